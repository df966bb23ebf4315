internal import TreeScan

/// The notes about the names that a plan changes: how many steps are left, and what each side has by now.
struct EntryProgress {
    private struct Name {
        var remaining = 0
        var kind: FileKind?
        var target: [UInt8] = []
        var digest: [UInt8]?
        var sides: Pair<ArchiveEntry.SideState?> = Pair(a: nil, b: nil)
        var hasFailed = false
    }

    private var names: [RelativePath: Name] = [:]

    init(_ plan: SyncPlan, times: Pair<Int64>) {
        for planned in plan.names {
            for side in Side.allCases {
                guard let state = planned.state(on: side, at: times[side]) else { continue }
                names[planned.path, default: Name()].sides[side] = state
            }
            names[planned.path]?.digest = planned.digest
        }
        for action in plan.actions {
            if case .moveAside = action.work { continue }
            names[action.subject, default: Name()].remaining += 1
        }
    }

    /// Whether a step must not be done, because one before it, or one above it, was not.
    func isBlocked(_ action: SyncAction) -> Bool {
        if names[action.path]?.hasFailed == true || names[action.subject]?.hasFailed == true { return true }
        // The file that this becomes a name of.
        if case .link(let target, _) = action.work, names[target]?.hasFailed == true { return true }
        // A folder that could not be made. One that could not be removed blocks nothing.
        guard action.work != .delete else { return false }
        return action.subject.ancestors.contains { names[$0]?.hasFailed == true && names[$0]?.kind == nil }
    }

    /// Whether a step of a name was not done.
    func hasFailed(_ path: RelativePath) -> Bool { names[path]?.hasFailed ?? false }

    mutating func failed(_ action: SyncAction) {
        names[action.subject, default: Name()].hasFailed = true
        names[action.path, default: Name()].hasFailed = true
    }

    /// Notes the extended attributes of an entry that a step reads.
    mutating func note(_ attributes: AttributePrint?, of path: RelativePath, on side: Side) {
        names[path]?.sides[side]?.attributes = attributes
    }

    /// Notes a step that is done, with what its side has now, and the other side had when it was read.
    ///
    /// - Returns: What the archive learns, if this was the last step of the name.
    mutating func done(
        _ action: SyncAction, kind: FileKind?, target: [UInt8], now state: ArchiveEntry.SideState?,
        source: ArchiveEntry.SideState? = nil, digest: [UInt8]? = nil
    ) -> EntryResult? {
        let path = action.subject
        var state = state
        if state?.attributes == nil, action.work != .put {
            state?.attributes = names[path]?.sides[action.side]?.attributes
        }
        names[path, default: Name()].sides[action.side] = state
        // A further name was not read.
        if let source, !action.isLink || names[path]?.sides[action.side.other] == nil {
            names[path]?.sides[action.side.other] = source
        }
        switch action.work {
        case .put: names[path]?.digest = digest
        case .link(let target, _): if let known = names[target]?.digest { names[path]?.digest = known }
        default: break
        }
        if let kind {
            names[path]?.kind = kind
            names[path]?.target = target
        }
        names[path]?.remaining -= 1
        guard let name = names[path], name.remaining == 0, !name.hasFailed else { return nil }
        if let a = name.sides.a, let b = name.sides.b, let kind = name.kind {
            return .write(
                ArchiveEntry(path: path, kind: kind, target: name.target, sides: Pair(a: a, b: b), digest: name.digest))
        }
        return name.sides.a == nil && name.sides.b == nil ? .remove(path) : nil
    }
}

extension SyncAction {
    /// The name that the archive learns of.
    var subject: RelativePath {
        if case .rename(let new) = work { new } else { path }
    }
}

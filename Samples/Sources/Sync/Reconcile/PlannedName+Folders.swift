internal import TreeScan

extension PlannedName {
    private func isFolder(_ side: Side) -> Bool { sides[side]?.kind == .directory }

    /// Whether a side would lose a folder of this name.
    var mayRemoveFolder: Bool {
        switch decision.outcome {
        case .delete(let side): isFolder(side)
        case .copy(let side, _, _): isFolder(side) && !isFolder(side.other)
        default: false
        }
    }

    /// Whether both sides have the name at the end.
    var staysOrComes: Bool {
        switch decision.outcome {
        case .keep, .record, .copy, .describe, .keepBoth, .rename: true
        case .forget, .delete, .renamedAway, .skip: false
        }
    }

    /// Whether the name is new on a side.
    func comes(to side: Side) -> Bool {
        guard sides[side] == nil else { return false }
        return switch decision.outcome {
        case .copy(side, _, _), .rename(side, _): true
        default: false
        }
    }

    /// Whether a side loses the name.
    func leaves(_ side: Side) -> Bool {
        switch decision.outcome {
        case .delete(side): true
        case .renamedAway: sides[side] != nil
        default: false
        }
    }

    /// Changes a decision that would have removed the folder: entries below it stay or come.
    mutating func keepFolder() {
        switch decision.outcome {
        case .delete(let side):
            let metadata = sides[side]?.metadata ?? Metadata(mode: 0o700)
            decision.outcome = .copy(to: side.other, metadata: metadata, source: nil)
            decision.reason = "removed on \(side.other.rawValue), but entries below it stay"
        case .copy(let side, _, _):
            decision.outcome = .keepBoth(moving: side.other)
            decision.isConflict = true
            decision.reason = "no folder on \(side.other.rawValue), but entries below it stay"
        default: break
        }
    }
}

/// The steps of a plan, each in its place.
struct ActionSteps {
    private var aside: [SyncAction] = []
    private var earlyDeletions: [SyncAction] = []
    private var folders: [SyncAction] = []
    private var renames: [SyncAction] = []
    private var files: [SyncAction] = []
    private var deletions: [SyncAction] = []
    private var lateFiles: [SyncAction] = []
    private var descriptions: [SyncAction] = []

    /// Names before folders, folders before their entries, entries before the removal of their folders, and metadata of
    /// folders last, as a folder may lose the right to write in it.
    var inOrder: [SyncAction] {
        aside + earlyDeletions + folders + renames + files + deletions.reversed() + lateFiles + descriptions.reversed()
    }

    /// Adds the steps of a name. Names come in the order of bytes.
    mutating func add(_ name: PlannedName) {
        let path = name.path
        switch name.decision.outcome {
        case .keep, .record, .forget, .renamedAway, .skip: break
        case .copy(let side, let metadata, let source):
            copy(name, to: side, metadata)
            if let source { describe(name, on: side.other, source) }
        case .describe(let forA, let forB):
            if let forA { describe(name, on: .a, forA) }
            if let forB { describe(name, on: .b, forB) }
        case .delete(let side):
            deletions.append(SyncAction(work: .delete, side: side, path: path, old: name.sides[side]))
        case .keepBoth(let side):
            guard let other = name.otherName, var moved = name.sides[side], let stays = name.sides[side.other] else {
                return
            }
            aside.append(SyncAction(work: .moveAside(to: other), side: side, path: path, old: moved))
            create(stays, on: side, stays.metadata)
            moved.path = other
            create(moved, on: side.other, moved.metadata)
        case .rename(let side, _):
            guard let from = name.otherName, let source = name.sides[side.other] else { return }
            renames.append(
                SyncAction(
                    work: .rename(to: path), side: side, path: from, metadata: source.metadata, source: source))
        }
    }

    private mutating func create(_ source: Observation, on side: Side, _ metadata: Metadata) {
        let isFolder = source.kind == .directory
        let action = SyncAction(
            work: isFolder ? .makeFolder : .put, side: side, path: source.path, metadata: metadata, source: source)
        if isFolder { folders.append(action) } else { files.append(action) }
    }

    private mutating func copy(_ name: PlannedName, to side: Side, _ metadata: Metadata) {
        guard let source = name.sides[side.other] else { return }
        guard let old = name.sides[side] else { return create(source, on: side, metadata) }
        var put = SyncAction(
            work: .put, side: side, path: name.path, metadata: metadata, source: source, old: old)
        switch (old.kind == .directory, source.kind == .directory) {
        case (false, false): files.append(put)
        case (false, true):
            earlyDeletions.append(SyncAction(work: .delete, side: side, path: name.path, old: old))
            create(source, on: side, metadata)
        case (true, false):
            deletions.append(SyncAction(work: .delete, side: side, path: name.path, old: old))
            put.old = nil
            lateFiles.append(put)
        case (true, true): break
        }
    }

    private mutating func describe(_ name: PlannedName, on side: Side, _ metadata: Metadata) {
        descriptions.append(
            SyncAction(
                work: .describe, side: side, path: name.path, metadata: metadata, source: name.sides[side.other],
                old: name.sides[side]))
    }
}

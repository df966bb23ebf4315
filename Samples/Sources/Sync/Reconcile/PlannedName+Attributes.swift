internal import TreeScan

extension PlannedName {
    private var haveOneKind: Bool {
        guard let a = sides.a, let b = sides.b else { return false }
        return a.kind == b.kind && (a.kind == .regular || a.kind == .directory)
    }

    /// Whether both sides have a folder, and something of its inode has changed. Its entries have facts of their own.
    var hasOtherInode: Bool {
        guard haveOneKind, sides.a?.kind == .directory else { return false }
        return Side.allCases.contains(where: isOther)
    }

    /// Whether the attributes of both sides are merged.
    var mergesAttributes: Bool {
        guard haveOneKind else { return false }
        return switch decision.outcome {
        case .record, .describe: true
        case .copy: archived?.kind == .regular
        default: false
        }
    }

    /// The sides whose attributes a plan needs.
    func sidesWithAttributes(mode: SyncMode) -> [Side] {
        switch decision.outcome {
        case .record, .describe: mergesAttributes && Side.allCases.contains(where: isOther) ? Side.allCases : []
        case .copy(let side, _, _):
            mode == .twoWay && mergesAttributes && isOther(side) ? Side.allCases : []
        case .rename(let side, _): [side.other]
        default: []
        }
    }

    /// Whether the inode of a side may have changed since the last sync.
    private func isOther(_ side: Side) -> Bool {
        guard let entry = sides[side], let state = archived?.sides[side] else { return true }
        return entry.stamp.changed != state.changed || entry.stamp.inode != state.inode || state.isRacy
    }
}

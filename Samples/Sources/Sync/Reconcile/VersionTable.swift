internal import TreeScan

/// Tells which contents of a file are the same: those of the archive, of A and of B.
struct VersionTable {
    let archived: ArchiveEntry?
    let a: Observation?
    let b: Observation?

    /// Returns the versions. Without a file on a side, its version has no meaning.
    ///
    /// It errs on one side only: a content that may be new counts as new.
    func versions(
        _ isEqual: (_ a: Observation, _ b: Observation) async throws -> Bool
    ) async throws -> Pair<FileVersion> {
        let doubts = Pair(a: doubt(a, .a), b: doubt(b, .b))
        guard let a, let b, a.kind == .regular, b.kind == .regular else {
            return Pair(
                a: isArchivedAlone(a, .a, doubts.a) ? .archived : .a,
                b: isArchivedAlone(b, .b, doubts.b) ? .archived : .b)
        }
        guard doubts.a != .none || doubts.b != .none else { return Pair(a: .archived, b: .archived) }
        if a.stamp.size == b.stamp.size, try await isEqual(a, b) {
            let isArchived = doubts.a == .none || doubts.b == .none
            return isArchived ? Pair(a: .archived, b: .archived) : Pair(a: .common, b: .common)
        }
        // The contents differ. If one side is as before for sure, the other one changed.
        if doubts.a == .none { return Pair(a: .archived, b: .b) }
        if doubts.b == .none { return Pair(a: .a, b: .archived) }
        let isArchivedA = isArchivedAlone(a, .a, doubts.a)
        let isArchivedB = isArchivedAlone(b, .b, doubts.b)
        guard isArchivedA != isArchivedB else { return Pair(a: .a, b: .b) }
        return Pair(a: isArchivedA ? .archived : .a, b: isArchivedB ? .archived : .b)
    }

    /// Whether both sides surely have another content than before, if their versions say so. No policy may choose
    /// between two contents if one of them may be that of the archive.
    var isCertain: Bool {
        isCertain(a, .a) && isCertain(b, .b)
    }

    private func isCertain(_ entry: Observation?, _ side: Side) -> Bool {
        guard let entry, entry.kind == .regular, let archived, archived.kind == .regular else { return true }
        let state = archived.sides[side]
        return entry.stamp.size != state.size || entry.stamp.inode != state.inode
            || entry.stamp.modified != state.metadata.modified
    }

    private func doubt(_ entry: Observation?, _ side: Side) -> Doubt {
        guard let entry, let archived, archived.kind == .regular else { return .length }
        return Doubt(entry, archived.sides[side])
    }

    /// Whether a file is as before, although it differs from the other side's: a change of its mode explains its change time.
    private func isArchivedAlone(_ entry: Observation?, _ side: Side, _ doubt: Doubt) -> Bool {
        guard let entry, entry.kind == .regular, let state = archived?.sides[side] else { return false }
        var metadata = entry.metadata
        metadata.modified = state.metadata.modified
        let isDescribed =
            doubt == .content && !state.isRacy && entry.stamp.inode == state.inode
            && entry.stamp.modified == state.metadata.modified && metadata != state.metadata
        return doubt == .none || isDescribed
    }
}

internal import TreeScan

/// The ways to look at the bytes and attributes of files.
struct ContentLook {
    /// Compares the bytes of a file of A with those of one of B.
    var isEqual: (_ a: Observation, _ b: Observation) async throws -> Bool
    /// The SHA-256 of a file; nil if it cannot be read, or is not as it was seen.
    var digest: (_ entry: Observation, _ side: Side) async throws -> [UInt8]?
    /// The prints of the extended attributes of entries. Those that cannot be read are left out.
    var attributes: (_ paths: [RelativePath], _ side: Side) async throws -> [RelativePath: AttributePrint] = { _, _ in
        [:]
    }
}

/// Tells which contents of a file are the same: those of the archive, of A and of B.
struct VersionTable {
    let archived: ArchiveEntry?
    let a: Observation?
    let b: Observation?

    /// Returns the versions. Without a file on a side, its version has no meaning.
    ///
    /// It errs on one side only: a content that may be new counts as new.
    func versions(_ look: ContentLook) async throws -> Pair<FileVersion> {
        let doubts = Pair(a: doubt(a, .a), b: doubt(b, .b))
        guard let a, let b, a.kind == .regular, b.kind == .regular else {
            return Pair(
                a: try await isArchivedAlone(a, .a, doubts.a, look) ? .archived : .a,
                b: try await isArchivedAlone(b, .b, doubts.b, look) ? .archived : .b)
        }
        guard doubts.a != .none || doubts.b != .none else { return Pair(a: .archived, b: .archived) }
        if a.stamp.size == b.stamp.size, try await look.isEqual(a, b) {
            var isArchived = doubts.a == .none || doubts.b == .none
            if !isArchived { isArchived = try await hasArchivedBytes(a, .a, doubts.a, look) }
            return isArchived ? Pair(a: .archived, b: .archived) : Pair(a: .common, b: .common)
        }
        // The contents differ. If one side is as before for sure, the other one changed.
        if doubts.a == .none { return Pair(a: .archived, b: .b) }
        if doubts.b == .none { return Pair(a: .a, b: .archived) }
        let isArchivedA = try await isArchivedAlone(a, .a, doubts.a, look)
        let isArchivedB = try await isArchivedAlone(b, .b, doubts.b, look)
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

    /// Whether a file is as before, although it differs from the other side's: a change of its mode explains its change
    /// time, or it has the bytes of before.
    private func isArchivedAlone(
        _ entry: Observation?, _ side: Side, _ doubt: Doubt, _ look: ContentLook
    ) async throws -> Bool {
        guard let entry, entry.kind == .regular, let state = archived?.sides[side] else { return false }
        var metadata = entry.metadata
        metadata.modified = state.metadata.modified
        let isDescribed =
            doubt == .content && !state.isRacy && entry.stamp.inode == state.inode
            && entry.stamp.modified == state.metadata.modified && metadata != state.metadata
        if doubt == .none || isDescribed { return true }
        return try await hasArchivedBytes(entry, side, doubt, look)
    }

    /// Whether a file has the bytes of before: the archive has their digest.
    private func hasArchivedBytes(
        _ entry: Observation, _ side: Side, _ doubt: Doubt, _ look: ContentLook
    ) async throws -> Bool {
        guard doubt == .content, let digest = archived?.digest else { return false }
        return try await look.digest(entry, side) == digest
    }
}

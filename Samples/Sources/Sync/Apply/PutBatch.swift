internal import SafeFiles
internal import TreeScan

/// A new entry under its temporary name, with all that it needs to get its name.
struct PreparedEntry: Sendable {
    var action: SyncAction
    var temporary: [UInt8]
    /// Whether the content is on the disk, or there is none.
    var isDurable = true
    var written: ArchiveEntry.SideState
    var source: ArchiveEntry.SideState
    /// The digest of a file, if its new state may be racy.
    var digest: [UInt8]?
    var bytes: Int64 = 0
    var reused: Int64 = 0
    var resumed: Int64 = 0
    /// The names of the extended attributes of the source that it lacks.
    var lost: [[UInt8]] = []
    var part: PartialFile?

    /// The name that the entry gets.
    var name: [UInt8] { Array(action.path.name) }

    var intent: Intent {
        var intent = Intent(work: .put, side: action.side, path: action.path.bytes)
        intent.temporary = temporary
        intent.kind = (action.source?.kind ?? .regular).rawValue
        intent.target = action.source?.target ?? []
        intent.digest = digest
        intent.written = Intent.State(written)
        intent.source = Intent.State(source)
        intent.setOld(action.old)
        return intent
    }
}

extension PreparedEntry {
    /// Notes the attributes that the source has, and what the new file has of them.
    mutating func noteAttributes(_ values: AttributeSet?, of file: Int32) {
        source.attributes = values.map(AttributePrint.init)
        written.attributes =
            lost.isEmpty ? source.attributes : ExtendedAttributes.all(of: file).map(AttributePrint.init)
    }
}

extension Intent {
    /// Notes the entry that leaves the name.
    mutating func setOld(_ old: Observation?) {
        guard let old else { return }
        self.old = State(ArchiveEntry.SideState(old, at: 0))
        oldKind = old.kind.rawValue
    }

    /// Whether an entry is the one that leaves the name.
    func isOld(_ status: EntryStatus) -> Bool {
        guard let old, oldKind == status.kind.rawValue, old.inode == status.stamp.inode else { return false }
        return status.kind == .directory
            || (old.size == status.stamp.size
                && (old.modified == status.stamp.modified || status.kind == .symbolicLink))
    }
}

internal import TreeScan

/// A change that was begun. It is written before the names change, and removed with the note of the result.
///
/// After a kill, the next run finds out from the names how far the change came, and ends it.
struct Intent: Codable, Sendable, Hashable {
    enum Work: String, Codable {
        /// The temporary file changes places with the entry under the name, or gets the name.
        case put
        /// The entry gets the temporary name, and is removed.
        case delete
        /// The folder is made, and gets its metadata at the end of the run.
        case makeFolder
    }

    /// One side's record, as in the archive.
    struct State: Codable, Sendable, Hashable {
        var mode: UInt32
        var owner: UInt32
        var group: UInt32
        var modified: Int64
        var size: Int64
        var changed: Int64
        var inode: UInt64
        var isRacy: Bool
        /// The bytes of the print of the attributes.
        var attributes: [UInt8]?

        init(_ state: ArchiveEntry.SideState) {
            mode = state.metadata.mode
            owner = state.metadata.owner
            group = state.metadata.group
            modified = state.metadata.modified
            size = state.size
            changed = state.changed
            inode = state.inode
            isRacy = state.isRacy
            attributes = state.attributes?.encoded
        }

        var state: ArchiveEntry.SideState {
            ArchiveEntry.SideState(
                metadata: Metadata(mode: mode, owner: owner, group: group, modified: modified), size: size,
                changed: changed, inode: inode, isRacy: isRacy,
                attributes: attributes.flatMap { try? AttributePrint(decoding: $0) })
        }
    }

    var work: Work
    var side: Side
    var path: [UInt8]
    /// The temporary name in the folder of the path.
    var temporary: [UInt8] = []
    /// The kind and the link target of the new entry.
    var kind: String = ""
    var target: [UInt8] = []
    /// The digest of the new entry's content, as in the archive.
    var digest: [UInt8]?
    /// The new entry, as it was written under the temporary name.
    var written: State?
    /// The other side's entry, as it was read.
    var source: State?
    /// The entry that leaves the name.
    var old: State?
    var oldKind: String = ""
}

extension Intent {
    private static let works: [Work] = [.put, .delete, .makeFolder]
    private static let longest = 1 << 20

    /// The intent as a record of the journal.
    var record: [UInt8] {
        var writer = WireWriter()
        writer.byte(UInt8(Self.works.firstIndex(of: work) ?? 0))
        writer.byte(side == .a ? 0 : 1)
        for bytes in [path, temporary, Array(kind.utf8), target, Array(oldKind.utf8)] { writer.counted(bytes) }
        writer.byte(digest == nil ? 0 : 1)
        if let digest { writer.counted(digest) }
        for state in [written, source, old] {
            writer.byte(state == nil ? 0 : 1)
            state?.write(to: &writer)
        }
        guard written?.attributes != nil || source?.attributes != nil else { return writer.bytes }
        for state in [written, source] {
            writer.byte(state?.attributes == nil ? 0 : 1)
            if let attributes = state?.attributes { writer.counted(attributes) }
        }
        return writer.bytes
    }

    /// Reads a record of the journal.
    init(record: [UInt8]) throws(WireError) {
        var reader = WireReader(record[...])
        work = Self.works[try reader.count(Self.works.count - 1)]
        side = try reader.count(1) == 0 ? .a : .b
        path = try reader.counted(limit: Self.longest)
        temporary = try reader.counted(limit: Self.longest)
        kind = String(decoding: try reader.counted(limit: Self.longest), as: UTF8.self)
        target = try reader.counted(limit: Self.longest)
        oldKind = String(decoding: try reader.counted(limit: Self.longest), as: UTF8.self)
        digest = try reader.count(1) == 0 ? nil : try reader.counted(limit: Self.longest)
        written = try State(&reader)
        source = try State(&reader)
        old = try State(&reader)
        // Earlier versions have no attributes.
        if reader.rest > 0 {
            if try reader.count(1) == 1 { written?.attributes = try reader.counted(limit: Self.longest) }
            if try reader.count(1) == 1 { source?.attributes = try reader.counted(limit: Self.longest) }
        }
        guard reader.rest == 0 else { throw WireError("a record is too long") }
    }
}

extension Intent.State {
    fileprivate func write(to writer: inout WireWriter) {
        for number in [mode, owner, group] { writer.number(UInt64(number)) }
        for number in [modified, size, changed] { writer.signed(number) }
        writer.number(inode)
        writer.byte(isRacy ? 1 : 0)
    }

    fileprivate init?(_ reader: inout WireReader) throws(WireError) {
        guard try reader.count(1) == 1 else { return nil }
        let limit = Int(UInt32.max)
        mode = UInt32(try reader.count(limit))
        owner = UInt32(try reader.count(limit))
        group = UInt32(try reader.count(limit))
        modified = try reader.signed()
        size = try reader.signed()
        changed = try reader.signed()
        inode = try reader.number()
        isRacy = try reader.count(1) == 1
    }
}

/// A large file that is half written. The bytes before `done` are on the disk.
struct PartialFile: Codable, Sendable {
    var side: Side
    var path: [UInt8]
    var temporary: [UInt8]
    /// The inode of the temporary file.
    var inode: UInt64
    /// The file that is copied, as it was when the copy began.
    var source: Intent.State
    var done: Int64
}

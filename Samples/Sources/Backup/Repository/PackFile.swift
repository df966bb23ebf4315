/// A pack: a mark, sealed blobs, the sealed list of their places, and the length of that list in four bytes.
enum PackFile {
    /// The first bytes of the file.
    static let mark = Array("QOSPACK1".utf8)
    /// The length at which a pack is written.
    static let fullSize = 16 << 20

    private static let footerLabel = Array("footer".utf8)
    private static let lengthBytes = 4

    /// What a sealed blob is bound to.
    static func label(of blob: Identifier) -> [UInt8] { Array("blob".utf8) + blob.bytes }

    /// The end of a pack: the sealed list, and its length.
    static func footer(_ entries: [PackEntry], keys: RepositoryKeys) throws -> [UInt8] {
        var writer = ByteWriter()
        PackEntry.write(entries, to: &writer)
        let list = try keys.seal(Compression.pack(writer.bytes), label: footerLabel)
        return list + (0..<lengthBytes).map { UInt8(truncatingIfNeeded: list.count >> (24 - 8 * $0)) }
    }

    /// Reads the list of a pack, without its blobs.
    ///
    /// - Throws: `BackupError.damaged`, or the failure of a system call.
    static func record(
        of pack: Identifier, in folder: RepositoryFolder, size: Int, keys: RepositoryKeys
    ) throws -> PackRecord {
        let path = folder.path(.packs, pack)
        let smallest = mark.count + RepositoryKeys.overhead + lengthBytes
        guard size >= smallest else { throw BackupError.damaged(path: path, detail: "it is too short for a pack") }
        let tail = try folder.read(path, from: size - lengthBytes, count: lengthBytes)
        let length = tail.reduce(0) { $0 << 8 | Int($1) }
        guard tail.count == lengthBytes, length <= size - mark.count - lengthBytes else {
            throw BackupError.damaged(path: path, detail: "its list of blobs has an impossible length")
        }
        let sealed = try folder.read(path, from: size - lengthBytes - length, count: length)
        guard let packed = keys.open(sealed, label: footerLabel),
            let plain = Compression.unpack(packed, limit: 1 << 30)
        else { throw BackupError.damaged(path: path, detail: "its list of blobs cannot be opened") }
        var reader = ByteReader(plain)
        guard let entries = try? PackEntry.read(from: &reader),
            entries.allSatisfy({ $0.offset + $0.length <= size - lengthBytes - length })
        else { throw BackupError.damaged(path: path, detail: "its list of blobs is malformed") }
        return PackRecord(pack: pack, size: size, entries: entries)
    }

    /// The plain text of a sealed blob, or nil if it is not that blob.
    static func open(_ sealed: [UInt8], as blob: Identifier, keys: RepositoryKeys) -> [UInt8]? {
        guard let packed = keys.open(sealed, label: label(of: blob)),
            let plain = Compression.unpack(packed, limit: TreeNode.longestBlob), keys.name(of: plain) == blob
        else { return nil }
        return plain
    }
}

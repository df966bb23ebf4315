internal import QoSRuntime

/// A blob that cannot be had.
struct BlobFailure: Error, CustomStringConvertible {
    let blob: Identifier
    let detail: String

    var description: String { "blob \(blob.description.prefix(8)): \(detail)" }
}

/// Reads blobs. What it returns has been verified: no wrong byte comes out.
final class BlobSource: Sendable {
    let index: BlobIndex
    private let repository: Repository

    init(_ repository: Repository, index: BlobIndex) {
        self.repository = repository
        self.index = index
    }

    /// Returns the plain text. Waits for its turn behind I/O of higher classes, and blocks a worker of the class.
    ///
    /// - Throws: `BlobFailure` if no copy of it is whole; `CancellationError`.
    func blob(_ blob: Identifier) async throws -> [UInt8] {
        var detail = "it is not in the repository"
        for place in index.places(of: blob) {
            let folder = repository.folder
            let path = folder.path(.packs, place.pack)
            do {
                let sealed = try await IOThrottle.process.perform(bytes: place.length) { _ in
                    try folder.read(path, from: place.offset, count: place.length)
                }
                if let plain = PackFile.open(sealed, as: blob, keys: repository.keys) { return plain }
                detail = "\(path) is damaged at byte \(place.offset)"
            } catch let error as BackupError {
                detail = "\(error)"
            }
        }
        throw BlobFailure(blob: blob, detail: detail)
    }

    /// Returns the text of several chunks. Each must have the length that its record says.
    func content(_ chunks: [TreeNode.Chunk]) async throws -> [UInt8] {
        var content: [UInt8] = []
        for chunk in chunks { content += try await bytes(of: chunk) }
        return content
    }

    /// Returns the text of a chunk.
    func bytes(of chunk: TreeNode.Chunk) async throws -> [UInt8] {
        let bytes = try await blob(chunk.blob)
        guard bytes.count == chunk.length else {
            throw BlobFailure(blob: chunk.blob, detail: "it has another length than its record says")
        }
        return bytes
    }

    /// Returns the entries of a folder.
    func folder(_ chunks: [TreeNode.Chunk]) async throws -> [TreeNode] {
        do {
            return try TreeNode.decode(try await content(chunks))
        } catch is ByteReader.Malformed {
            throw BlobFailure(
                blob: chunks.first?.blob ?? Identifier([UInt8](repeating: 0, count: 32)),
                detail: "the list of entries is malformed")
        }
    }

    /// Returns the root of a snapshot: the folder itself, with an empty name.
    func root(_ chunks: [TreeNode.Chunk]) async throws -> TreeNode {
        var reader = ByteReader(try await content(chunks))
        guard let root = try? TreeNode(from: &reader), reader.isAtEnd, case .folder = root.content else {
            throw BlobFailure(
                blob: chunks.first?.blob ?? Identifier([UInt8](repeating: 0, count: 32)),
                detail: "the record of the folder is malformed")
        }
        return root
    }
}

internal import Chunking
internal import QoSRuntime
internal import Synchronization

/// Stores blobs that the repository does not have yet, in packs. Threads share it.
///
/// Memory: one pack that is being filled, and one for each call that writes a full one.
final class BlobSink: Sendable {
    private struct State {
        var known: BlobIndex
        var claimed: Set<Identifier> = []
        var body: [UInt8] = PackFile.mark
        var entries: [PackEntry] = []
        /// Packs on the disk that no file of the index lists.
        var unlisted: [PackRecord]
        var totals = Totals()
    }

    /// What was stored.
    struct Totals: Sendable {
        var newBlobs = 0
        var newBytes: Int64 = 0
        var storedBytes: Int64 = 0
        var packs = 0
    }

    let chunker: Chunker
    private let repository: Repository
    private let state: Mutex<State>

    init(_ repository: Repository, known: BlobIndex, unlisted: [PackRecord]) {
        self.repository = repository
        chunker = Chunker(gear: repository.keys.gear)
        state = Mutex(State(known: known, unlisted: unlisted))
    }

    var totals: Totals { state.withLock { $0.totals } }

    /// Whether a blob needs no storing: it is in the repository, or in this run's packs.
    func has(_ blob: Identifier) -> Bool {
        state.withLock { $0.known.contains(blob) }
    }

    /// Stores a blob. Hashes, compresses and seals on the calling worker.
    func store(_ plain: [UInt8]) async throws -> TreeNode.Chunk {
        let blob = repository.keys.name(of: plain)
        let chunk = TreeNode.Chunk(blob: blob, length: plain.count)
        let isNew = state.withLock { state in
            !state.known.contains(blob) && state.claimed.insert(blob).inserted
        }
        guard isNew else { return chunk }
        let sealed = try repository.keys.seal(Compression.pack(plain), label: PackFile.label(of: blob))
        let full = state.withLock { state -> (body: [UInt8], entries: [PackEntry])? in
            state.entries.append(PackEntry(blob: blob, offset: state.body.count, length: sealed.count))
            state.body += sealed
            state.totals.newBlobs += 1
            state.totals.newBytes += Int64(plain.count)
            return state.body.count >= PackFile.fullSize ? Self.take(&state) : nil
        }
        if let full { try await write(full.body, full.entries) }
        return chunk
    }

    /// Stores a text of any length as chunks.
    func storeContent(_ bytes: [UInt8]) async throws -> [TreeNode.Chunk] {
        var stream = ChunkStream(chunker)
        stream.append(bytes)
        stream.finish()
        var chunks: [TreeNode.Chunk] = []
        while let piece = stream.next() { chunks.append(try await store(piece)) }
        return chunks
    }

    /// Writes the last pack and a file of the index. Call it when no `store` is under way.
    func flush() async throws {
        let rest = state.withLock { $0.entries.isEmpty ? nil : Self.take(&$0) }
        if let rest { try await write(rest.body, rest.entries) }
        let unlisted = state.withLock { state in
            defer { state.unlisted = [] }
            return state.unlisted
        }
        do {
            try repository.addIndex(unlisted)
        } catch {
            state.withLock { $0.unlisted = unlisted + $0.unlisted }
            throw error
        }
    }

    private static func take(_ state: inout State) -> (body: [UInt8], entries: [PackEntry]) {
        defer {
            state.body = PackFile.mark
            state.entries = []
        }
        return (state.body, state.entries)
    }

    private func write(_ body: [UInt8], _ entries: [PackEntry]) async throws {
        let bytes = try PackFile.finish(body, entries: entries, keys: repository.keys)
        let folder = repository.folder
        let pack = try await IOThrottle.process.perform(bytes: bytes.count) { _ in try folder.add(bytes, to: .packs) }
        state.withLock { state in
            let record = PackRecord(pack: pack, size: bytes.count, entries: entries)
            state.known.add(record)
            state.unlisted.append(record)
            state.totals.packs += 1
            state.totals.storedBytes += Int64(bytes.count)
        }
    }
}

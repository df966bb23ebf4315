internal import Chunking
internal import QoSRuntime
internal import Synchronization

/// Stores blobs that the repository does not have yet, in packs. Threads share it.
///
/// Memory: one pack that is being filled, one that is being written, and the chunks under way: one for each slot.
final class BlobSink: Sendable {
    private struct State {
        var known: BlobIndex
        var claimed: Set<Identifier> = []
        var body: [UInt8] = []
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

    /// A pack that is to be written.
    private struct Pack: Sendable {
        let bytes: [UInt8]
        let entries: [PackEntry]
    }

    let chunker: Chunker
    /// A permit for each chunk of a file that may be under way.
    let slots: AsyncSemaphore
    /// One `store` at a time adds to the pack. It waits with its turn for the pack before, so the others wait, too.
    private let turn: AsyncSemaphore
    /// One pack at a time is written.
    private let writing: AsyncSemaphore
    private let repository: Repository
    private let state: Mutex<State>

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - known: The blobs that need no storing.
    ///   - unlisted: The packs to be listed in the next file of the index.
    ///   - width: The number of chunks of files that may be under way, 1 or more.
    init(_ repository: Repository, known: BlobIndex, unlisted: [PackRecord], width: Int = 1) throws {
        self.repository = repository
        slots = try AsyncSemaphore(permits: max(1, width), name: "chunks of a backup")
        turn = try AsyncSemaphore(permits: 1, name: "pack of a backup")
        writing = try AsyncSemaphore(permits: 1, name: "write of a pack")
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
        try await turn.wait()
        let isFull = state.withLock { state in
            if state.body.isEmpty {
                // At once, as an array that grows doubles its room.
                state.body.reserveCapacity(PackFile.fullSize + chunker.sizes.maximum + PackFile.listRoom)
                state.body += PackFile.mark
            }
            state.entries.append(PackEntry(blob: blob, offset: state.body.count, length: sealed.count))
            state.body += sealed
            state.totals.newBlobs += 1
            state.totals.newBytes += Int64(plain.count)
            return state.body.count >= PackFile.fullSize
        }
        guard isFull else {
            turn.signal()
            return chunk
        }
        do {
            try await writing.wait()
        } catch {
            turn.signal()
            throw error
        }
        defer { writing.signal() }
        let pack: Pack?
        do {
            defer { turn.signal() }
            pack = try state.withLock { try take(&$0) }
        }
        if let pack { try await write(pack) }
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
        if let rest = try state.withLock({ try take(&$0) }) { try await write(rest) }
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

    /// Ends the pack that is being filled; nil if it is empty.
    private func take(_ state: inout State) throws -> Pack? {
        guard !state.entries.isEmpty else { return nil }
        try PackFile.finish(&state.body, entries: state.entries, keys: repository.keys)
        defer {
            state.body = []
            state.entries = []
        }
        return Pack(bytes: state.body, entries: state.entries)
    }

    private func write(_ full: Pack) async throws {
        let (bytes, entries, folder) = (full.bytes, full.entries, repository.folder)
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

internal import Chunking
internal import Glibc
internal import QoSRuntime
internal import Synchronization

/// Stores blobs that the repository does not have yet, in packs. Threads share it.
///
/// Memory: a piece of the pack that is being filled, one of the pack that ends, and the chunks under way: one for each
/// slot.
final class BlobSink: Sendable {
    private struct State {
        var known: BlobIndex
        var claimed: Set<Identifier> = []
        /// The pack that is being filled. Whoever has the turn takes it out while adding to it. So a pack whose write
        /// failed is given up.
        var pack: PackWriter?
        /// Packs on the disk that no file of the index lists.
        var unlisted: [PackRecord]
        var totals = Totals()
        /// Whether blobs are lost that others count on, as they are claimed.
        var isBroken = false
    }

    /// What was stored.
    struct Totals: Sendable {
        var newBlobs = 0
        var newBytes: Int64 = 0
        var storedBytes: Int64 = 0
        var packs = 0
    }

    /// A blob that is to be added to a pack.
    private struct Sealed: Sendable {
        let blob: Identifier
        let bytes: [UInt8]
        let plainLength: Int
    }

    let chunker: Chunker
    /// A permit for each chunk of a file that may be under way.
    let slots: AsyncSemaphore
    /// One `add` at a time adds to the pack. It waits with its turn for the end of the pack before, so the others wait,
    /// too.
    private let turn: AsyncSemaphore
    /// One pack at a time is ended.
    private let ending: AsyncSemaphore
    private let repository: Repository
    private let isDry: Bool
    private let state: Mutex<State>

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - known: The blobs that need no storing.
    ///   - unlisted: The packs to be listed in the next file of the index.
    ///   - width: The number of chunks of files that may be under way, 1 or more.
    ///   - isDry: Whether new blobs are only counted.
    init(
        _ repository: Repository, known: BlobIndex, unlisted: [PackRecord], width: Int = 1, isDry: Bool = false
    ) throws {
        self.isDry = isDry
        self.repository = repository
        slots = try AsyncSemaphore(permits: max(1, width), name: "chunks of a backup")
        turn = try AsyncSemaphore(permits: 1, name: "pack of a backup")
        ending = try AsyncSemaphore(permits: 1, name: "end of a pack")
        chunker = Chunker(gear: repository.keys.gear)
        state = Mutex(State(known: known, unlisted: unlisted))
    }

    var totals: Totals { state.withLock { $0.totals } }

    /// Whether a blob needs no storing: it is in the repository, or in this run's packs.
    func has(_ blob: Identifier) -> Bool {
        state.withLock { $0.known.contains(blob) }
    }

    /// Stores blobs, and returns them in the same order. Hashes, compresses and seals on the calling worker.
    ///
    /// After an error, also of a cancelled task, the sink cannot be used any more: `flush` fails.
    func store(_ texts: [[UInt8]]) async throws -> [TreeNode.Chunk] {
        do {
            return try await storeNew(of: texts)
        } catch {
            noteLoss()
            throw error
        }
    }

    private func storeNew(of texts: [[UInt8]]) async throws -> [TreeNode.Chunk] {
        var chunks: [TreeNode.Chunk] = []
        var sealed: [Sealed] = []
        for plain in texts {
            let blob = repository.keys.name(of: plain)
            chunks.append(TreeNode.Chunk(blob: blob, length: plain.count))
            let isNew = state.withLock { state in
                !state.known.contains(blob) && state.claimed.insert(blob).inserted
            }
            guard isNew else { continue }
            guard !isDry else {
                state.withLock { state in
                    state.totals.newBlobs += 1
                    state.totals.newBytes += Int64(plain.count)
                }
                continue
            }
            let bytes = try repository.keys.seal(Compression.pack(plain), label: PackFile.label(of: blob))
            sealed.append(Sealed(blob: blob, bytes: bytes, plainLength: plain.count))
        }
        var rest = sealed[...]
        while !rest.isEmpty {
            guard var full = try await add(&rest) else { continue }
            defer { ending.signal() }
            try await end(&full)
        }
        return chunks
    }

    /// Adds blobs to the pack until it is full. Then it returns the pack, with the permit to end it.
    private func add(_ sealed: inout ArraySlice<Sealed>) async throws -> PackWriter? {
        try await turn.wait()
        defer { turn.signal() }
        var pack = state.withLock { $0.pack.take() } ?? PackWriter(repository)
        var added = Totals()
        while pack.size < PackFile.fullSize, let next = sealed.popFirst() {
            try await pack.append(next.bytes, as: next.blob)
            added.newBlobs += 1
            added.newBytes += Int64(next.plainLength)
        }
        state.withLock { state in
            state.totals.newBlobs += added.newBlobs
            state.totals.newBytes += added.newBytes
            state.pack = pack
        }
        guard pack.size >= PackFile.fullSize else { return nil }
        try await ending.wait()
        return state.withLock { $0.pack.take() }
    }

    /// Stores a text of any length as chunks.
    func storeContent(_ bytes: [UInt8]) async throws -> [TreeNode.Chunk] {
        var stream = ChunkStream(chunker)
        stream.append(bytes)
        stream.finish()
        var chunks: [TreeNode.Chunk] = []
        while let piece = stream.next() { chunks += try await store([piece]) }
        return chunks
    }

    /// Notes that a pack is given up, or blobs that were claimed are in none.
    private func noteLoss() { state.withLock { $0.isBroken = true } }

    /// Writes the last pack and a file of the index. Call it when no `store` is under way.
    ///
    /// - Throws: `BackupError`, also if blobs are lost because a `store` failed: what was returned for them may name
    ///   blobs that are nowhere.
    func flush() async throws {
        guard !isDry else { return }
        guard !state.withLock({ $0.isBroken }) else {
            throw BackupError.failed(path: repository.path, operation: "write a pack of", code: ECANCELED)
        }
        if var rest = state.withLock({ $0.pack.take() }) {
            do {
                try await end(&rest)
            } catch {
                noteLoss()
                throw error
            }
        }
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

    private func end(_ pack: inout PackWriter) async throws {
        let record = try await pack.finish()
        state.withLock { state in
            state.known.add(record)
            state.unlisted.append(record)
            state.totals.packs += 1
            state.totals.storedBytes += Int64(record.size)
        }
    }
}

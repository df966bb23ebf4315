internal import Chunking
internal import QoSCore
internal import QoSRuntime
internal import TreeScan

/// Short files that are saved together. Most files are short, and a task with calls of its own for each costs more than
/// the file.
struct ShortFiles: Sendable {
    /// The most bytes of a file, and of all together. A file of this size is one chunk.
    static let most = ChunkSizes.standard.minimum
    private static let mostFiles = 16

    struct File: Sendable {
        /// The number of its folder.
        let folder: Int
        let path: RelativePath
        let size: Int
    }

    private(set) var files: [File] = []
    private(set) var bytes = 0

    mutating func append(_ file: File) {
        files.append(file)
        bytes += file.size
    }

    /// Whether these are enough. Under a limit of operations each file counts as one.
    var isFull: Bool {
        let limits = IOThrottle.process.limits(for: QoS.currentLevel?.qosClass ?? .default)
        return !files.isEmpty
            && (files.count >= Self.mostFiles || bytes >= Self.most || limits.operationsPerSecond != nil)
    }
}

extension FileSaver {
    /// A short file after its reading.
    private enum Short: Sendable {
        case read(FileReading, [UInt8])
        /// It changed meanwhile, or has more bytes than may be read at once.
        case unread
        case failed(FileSystemFailure)
    }

    /// Saves several files. The results are in the same order.
    ///
    /// - Throws: As ``save(_:attempts:)``.
    func save(_ short: ShortFiles) async throws -> [(folder: Int, file: SavedFile)] {
        var saved: [(folder: Int, file: SavedFile)] = []
        while saved.count < short.files.count {
            try Task.checkCancellation()
            let rest = short.files[saved.count...]
            for (file, result) in zip(rest, try await saveFirst(rest)) {
                let result = if let result { result } else { try await save(file.path, attempts: Self.attempts - 1) }
                saved.append((file.folder, result))
            }
        }
        return saved
    }

    /// Saves the first of some files: those that may be read at once. The result is nil for one to be saved alone.
    private func saveFirst(_ files: ArraySlice<ShortFiles.File>) async throws -> [SavedFile?] {
        try await sink.slots.wait()
        defer { sink.slots.signal() }
        let reads = try await IOThrottle.process.perform(bytes: files.reduce(0) { $0 + $1.size }) { granted in
            readFirst(files, granted)
        }
        let texts = reads.compactMap { read -> [UInt8]? in
            if case .read(_, let bytes) = read, !bytes.isEmpty { bytes } else { nil }
        }
        var chunks = try await sink.store(texts).makeIterator()
        return reads.map { read in
            switch read {
            case .read(let reading, let bytes):
                let list = bytes.isEmpty ? [] : chunks.next().map { [$0] } ?? []
                return .saved(reading.node(list, isComplete: true, isStable: true), wasRead: true, note: nil)
            case .unread: return nil
            case .failed(let failure): return SavedFile(failure)
            }
        }
    }

    /// Reads at least one file, and no more than the granted bytes. Blocks its thread.
    private func readFirst(_ files: ArraySlice<ShortFiles.File>, _ granted: Int) -> [Short] {
        var reads: [Short] = []
        var rest = granted
        for file in files {
            guard reads.isEmpty || file.size <= rest else { break }
            rest -= file.size
            do throws(FileSystemFailure) {
                reads.append(try read(file.path, atMost: min(granted, ShortFiles.most)))
            } catch {
                reads.append(.failed(error))
            }
        }
        return reads
    }

    private func read(_ path: RelativePath, atMost most: Int) throws(FileSystemFailure) -> Short {
        let reading = try FileReading(path, in: root, at: options.now())
        guard reading.length <= most else { return .unread }
        var bytes: [UInt8] = []
        for range in reading.data where !range.isEmpty {
            let part = try reading.file.readNow(range)
            bytes = bytes.isEmpty ? part : bytes + part
        }
        guard bytes.count == reading.length, try reading.isUnchanged() else { return .unread }
        return .read(reading, bytes)
    }
}

internal import GRDB
internal import TreeScan

extension IndexPass {
    /// The result of reading a file ahead of its step.
    struct ReadFile: Sendable {
        var result: ExtractionResult
        /// The moment at which its reading began, in nanoseconds since 1970.
        var time: Int64
    }

    /// The maximum number of bytes to read ahead, beside one file.
    private static let bytesAhead: Int64 = 8 << 20
    /// The number of tasks that read files at a time. The pool of their class decides how many of them run.
    private static let readers = 4

    /// Runs a step while other tasks read the files of the next one.
    ///
    /// The database has one writer. So one processor writes, and the others read and decode.
    func stepReadingAhead(_ limit: BatchLimit) async throws -> StepOutcome {
        isInTask = true
        let (extractor, root, now) = (extractor, root, index.options.now)
        if let next = try nextPending(), readFiles[next] == nil {
            // The first file to write is not at hand: at the beginning, or because its reading failed.
            (readFiles, lastRead) = ([:], next - 1)
            readFiles = await Self.read(try rowsAhead(limit.documents), extractor, root, now)
            // A conversion that was cancelled is no failure.
            try Task.checkCancellation()
            // The step would convert the file itself. Who stopped the converters wants the pass to breathe first.
            if extractor.conversions.isStopped { return .progress }
            return try await stepWhenFree(limit)
        }
        let rows = readFiles.count < limit.documents ? try rowsAhead(limit.documents) : []
        async let files = Self.read(rows, extractor, root, now)
        let before = refreshes
        let outcome = try await stepWhenFree(limit)
        let more = await files
        // Files that were read before a refresh may have changed since.
        if refreshes == before { readFiles.merge(more) { $1 } }
        return outcome
    }

    /// Does a step as soon as no refresh is under way. After a refresh it does nothing: files must be read again.
    func stepWhenFree(_ limit: BatchLimit) async throws -> StepOutcome {
        guard await index.turns.take() else { throw CancellationError() }
        defer { index.turns.give() }
        if dropIfRefreshed() { return .progress }
        return try stepInTurn(limit: limit)
    }

    /// Returns the number of the file that the next step begins with.
    private func nextPending() throws -> Int64? {
        try pool.read { try FileTable(database: $0).pending(limit: 1).first?.id }
    }

    /// Returns the next files behind the last one that was read.
    private func rowsAhead(_ count: Int) throws -> [FileRow] {
        let rows = try pool.read { [lastRead] in try FileTable(database: $0).pending(after: lastRead, limit: count) }
        let chosen = chosen(rows)
        lastRead = chosen.last?.id ?? lastRead
        return chosen
    }

    /// Returns the first files that together have no more bytes than may be read ahead, or the first one.
    func chosen(_ rows: [FileRow]) -> [FileRow] {
        var bytes: Int64 = 0
        return Array(
            rows.prefix { row in
                defer { bytes += min(row.stamp.size, Int64(extractor.textLimit)) }
                return bytes < Self.bytesAhead
            })
    }

    /// Reads files, several at a time. Leaves out files that fail for want of resources: the step tries them again.
    @concurrent
    static func read(
        _ rows: [FileRow],
        _ extractor: TextExtractor,
        _ root: RootFolder,
        _ now: @escaping @Sendable () -> Int64
    ) async -> [Int64: ReadFile] {
        await withTaskGroup(of: [Int64: ReadFile].self) { group in
            for first in 0..<min(readers, rows.count) {
                group.addTask {
                    var files: [Int64: ReadFile] = [:]
                    for index in stride(from: first, to: rows.count, by: readers) where !Task.isCancelled {
                        let time = now()
                        guard let result = try? await extractor.extractInTask(rows[index].path, in: root) else {
                            continue
                        }
                        files[rows[index].id] = ReadFile(result: result, time: time)
                        await Task.yield()
                    }
                    return files
                }
            }
            return await group.reduce(into: [:]) { files, more in files.merge(more) { $1 } }
        }
    }
}

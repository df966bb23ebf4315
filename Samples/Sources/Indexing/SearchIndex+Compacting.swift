internal import GRDB

extension SearchIndex {
    /// The result of a compaction.
    public struct CompactReport: Sendable, Hashable {
        /// Bytes of the database before it.
        public let bytesBefore: Int64
        /// Bytes of the database after it.
        public let bytesAfter: Int64
    }

    /// Merges the parts of the full-text index into one, and gives unused room back to the disk. Searches go on.
    ///
    /// The merge stops within about 50 ms of a cancellation. The last part writes the whole database anew, in one call
    /// that blocks its thread; a cancellation interrupts it. It needs free disk space of about the database's size.
    ///
    /// - Throws: `IndexError`, `CancellationError`. The index is intact in every case.
    public func compact() async throws -> CompactReport {
        let token = try PassToken(of: self)
        defer { withExtendedLifetime(token) {} }
        let before = files.size
        let pool = try pool()
        do {
            while try await pool.write({ try DocumentTable($0).mergeAll(pages: 256) }) {
                try Task.checkCancellation()
            }
            try await withTaskCancellationHandler {
                try await pool.vacuum()
                try await pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            } onCancel: {
                pool.interrupt()
            }
        } catch {
            try Task.checkCancellation()
            throw Self.translate(error, files)
        }
        let after = files.size
        board.update { $0.databaseBytes = after }
        return CompactReport(bytesBefore: before, bytesAfter: after)
    }
}

internal import Glibc

/// The bytes of a file in chunks, from ``QoSFile/chunks(of:from:)``.
///
/// Each iteration reads the file anew.
public struct FileChunks: AsyncSequence, Sendable {
    /// A chunk: one byte or more.
    public typealias Element = [UInt8]

    let file: QoSFile
    let count: Int
    let offset: Int64

    /// Begins at the offset.
    public func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }

    /// A place in the file.
    public struct Iterator: AsyncIteratorProtocol {
        private let chunks: FileChunks
        private var offset: Int64
        private var hasBegun = false
        private var isAtEnd = false

        fileprivate init(chunks: FileChunks) {
            self.chunks = chunks
            offset = chunks.offset
        }

        /// Reads the next chunk; `nil` at the end of the file.
        ///
        /// - Throws: ``FileError``, `CancellationError`. A later call tries the same chunk again.
        public mutating func next() async throws -> [UInt8]? {
            guard chunks.count > 0 else {
                throw FileError(
                    "read", EINVAL, path: chunks.file.path, detail: "chunks of \(chunks.count) bytes: use 1 or more")
            }
            guard !isAtEnd else { return nil }
            if !hasBegun {
                try await chunks.file.adviseSequential()
                hasBegun = true
            }
            let bytes = try await chunks.file.read(chunks.count, at: offset)
            offset += Int64(bytes.count)
            isAtEnd = bytes.count < chunks.count
            return bytes.isEmpty ? nil : bytes
        }
    }
}

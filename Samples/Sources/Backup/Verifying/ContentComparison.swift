internal import TreeScan

/// Compares the bytes of a file with those of a snapshot. Each blob is read from the repository and verified.
struct ContentComparison {
    private static let piece = 1 << 20

    let source: BlobSource

    /// Returns the first byte that differs, or nil if none does. Both have the same length.
    ///
    /// Memory: one blob and one piece of the file.
    ///
    /// - Throws: `BlobFailure` for the repository, `FileSystemFailure` for the file, `CancellationError`.
    func firstDifference(of file: SourceFile, from content: TreeNode.FileContent) async throws -> Int64? {
        var places = DataPlaces(content)
        var first: Int64?
        for chunk in content.chunks {
            try Task.checkCancellation()
            let bytes = try await source.bytes(of: chunk)
            for (offset, range) in places.take(bytes.count) {
                first = try await self.first(first, of: file, at: offset, from: bytes[range])
            }
            // All extents before this one are compared, and only a hole between them may differ earlier.
            if first != nil { break }
        }
        for hole in content.holes where hole.lowerBound < first ?? .max {
            if let byte = try await nonzero(in: hole, of: file) { return min(byte, first ?? .max) }
        }
        return first
    }

    private func first(
        _ known: Int64?, of file: SourceFile, at offset: Int64, from bytes: ArraySlice<UInt8>
    ) async throws -> Int64? {
        if let known { return known }
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let place = offset + Int64(position - bytes.startIndex)
            let read = try await file.read(from: place, count: min(Self.piece, bytes.endIndex - position))
            // The file got shorter meanwhile.
            guard !read.isEmpty else { return place }
            let expected = bytes[position..<(position + read.count)]
            if !expected.elementsEqual(read) {
                let same = zip(expected, read).prefix { $0 == $1 }.count
                return place + Int64(same)
            }
            position += read.count
        }
        return nil
    }

    /// The first byte in a hole of the snapshot that is not zero.
    private func nonzero(in hole: Range<Int64>, of file: SourceFile) async throws -> Int64? {
        let size = try file.size()
        let data = try file.extents(size: size) ?? [0..<size]
        for extent in data {
            var position = max(extent.lowerBound, hole.lowerBound)
            let end = min(extent.upperBound, hole.upperBound)
            while position < end {
                try Task.checkCancellation()
                let read = try await file.read(from: position, count: Int(min(Int64(Self.piece), end - position)))
                guard !read.isEmpty else { break }
                if let index = read.firstIndex(where: { $0 != 0 }) { return position + Int64(index) }
                position += Int64(read.count)
            }
        }
        return nil
    }
}

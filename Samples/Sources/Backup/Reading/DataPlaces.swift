/// Walks through the ranges of a file that have data.
struct DataPlaces {
    private var extents: ArraySlice<Range<Int64>>

    init(_ content: TreeNode.FileContent) {
        extents = (content.extents ?? [0..<content.size])[...]
    }

    /// The places of the next `count` bytes, each with the range of them that belongs there.
    mutating func take(_ count: Int) -> [(offset: Int64, range: Range<Int>)] {
        var places: [(offset: Int64, range: Range<Int>)] = []
        var done = 0
        while done < count, let extent = extents.first {
            let length = min(count - done, extent.count)
            places.append((extent.lowerBound, done..<(done + length)))
            done += length
            extents.removeFirst()
            if length < extent.count {
                extents.insert(extent.lowerBound + Int64(length)..<extent.upperBound, at: extents.startIndex)
            }
        }
        return places
    }
}

extension TreeNode.FileContent {
    /// The ranges without data.
    var holes: [Range<Int64>] {
        guard let extents else { return [] }
        let starts = [0] + extents.map(\.upperBound)
        let ends = extents.map(\.lowerBound) + [size]
        return zip(starts, ends).filter { $0 < $1 }.map { $0..<$1 }
    }
}

/// The part of a file that a request asks for (RFC 9110, section 14). A pure value.
enum ByteRange: Equatable {
    /// The whole file.
    case all
    /// These bytes.
    case part(Range<Int64>)
    /// No byte of the file.
    case none

    /// Reads the Range header of a request. Several ranges, and other units, count as the whole file.
    ///
    /// - Parameter size: The size of the file in bytes.
    init(_ header: String?, size: Int64) {
        self = header.flatMap { Self.read($0, size: size) } ?? .all
    }

    private static func read(_ header: String, size: Int64) -> ByteRange? {
        guard header.hasPrefix("bytes=") else { return nil }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        switch (ends[0].isEmpty, ends[1].isEmpty) {
        case (true, true): return nil
        case (true, false):
            let count = Int64(ends[1]) ?? .max
            return count > 0 && size > 0 ? .part(max(0, size - count)..<size) : ByteRange.none
        case (false, let isOpen):
            let first = Int64(ends[0]) ?? .max
            let last = isOpen ? .max : Int64(ends[1]) ?? .max
            guard last >= first else { return nil }
            return first < size ? .part(first..<min(size, last == .max ? .max : last + 1)) : ByteRange.none
        }
    }
}

internal import TreeScan

/// Names for the versions that lose their own: `report.conflict-B-2026-01-31.txt`, then `…-2.txt`.
enum ConflictName {
    /// The longest name of Linux' file systems, in bytes.
    private static let maximum = 255

    /// Returns the first name of the series that is free.
    ///
    /// - Parameters:
    ///   - side: The side whose version gets the name.
    ///   - date: A date as `2026-01-31`.
    static func make(
        for path: RelativePath, of side: Side, date: String, isTaken: (RelativePath) -> Bool
    ) -> RelativePath {
        let name = Array(path.name)
        let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 && name.count - $0 <= 16 ? $0 : nil }
        let end = name[(dot ?? name.count)...]
        let folder = Array(path.bytes.dropLast(name.count))
        var count = 1
        while true {
            let mark = Array(".conflict-\(side.rawValue)-\(date)\(count == 1 ? "" : "-\(count)")".utf8)
            let stem = name[..<(dot ?? name.count)].prefix(maximum - mark.count - end.count)
            let candidate = RelativePath(bytes: folder + stem + mark + end)
            if !isTaken(candidate) { return candidate }
            count += 1
        }
    }
}

internal import Indexing

/// Formats the state of an index as one line for people; a pure function.
enum ProgressLine {
    /// Returns the line, for example `indexing  3412 of 10030 files  812 files/s  41 MB`.
    ///
    /// - Parameter isLast: Whether the service ends. A pass that is under way then has been stopped, even if it has not
    ///   come to say so.
    static func text(_ status: IndexStatus, rate: Double, isLast: Bool = false) -> String {
        let counts = status.counts
        var parts: [String]
        let isWork = [.scanning, .sweeping, .indexing, .merging].contains(status.activity)
        switch isLast && isWork ? .stopped : status.activity {
        case .scanning:
            parts = ["scanning", "\(status.scanned) files seen", "\(counts.pending) to read"]
        case .sweeping:
            parts = ["removing what is gone", "\(counts.files) files"]
        case .indexing:
            parts = [
                "indexing", "\(counts.files - counts.pending) of \(counts.files) files",
                "\(Int(rate.rounded())) files/s",
            ]
        case .merging:
            parts = ["tidying the index", "\(counts.indexed) files indexed"]
        case .paused:
            parts = ["paused", "\(counts.files - counts.pending) of \(counts.files) files"]
        case .stopped:
            parts = ["stopped", "\(counts.files - counts.pending) of \(counts.files) files"]
        case .idle where !status.hasScanned:
            parts = ["waiting for the first scan", "\(counts.indexed) files indexed"]
        case .idle:
            parts = ["ready", "\(counts.indexed) files indexed"]
            if counts.skipped > 0 { parts.append("\(counts.skipped) skipped") }
        }
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        parts.append("\((status.databaseBytes + 500_000) / 1_000_000) MB")
        if let pause = status.pause { parts.append(pause) }
        return parts.joined(separator: "  ")
    }
}

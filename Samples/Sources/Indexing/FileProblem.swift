internal import TreeScan

/// A file that is missing from the index, or of which only the first part is there, or an ignore file with an error.
public struct FileProblem: Sendable, Hashable, Codable {
    /// The number of problems that a status lists at most.
    static let limit = 100

    /// The path below the indexed folder, as `SearchHit.display` has it.
    public let path: String
    /// A raw value of `FileReason`, or `truncated`, or `ignore-pattern`.
    public let reason: String
    /// The system's message, if there is one.
    public let detail: String
}

extension FileProblem {
    init(_ problem: IgnoreProblem) {
        let line = problem.line > 0 ? "line \(problem.line) has no effect: " : ""
        self.init(path: problem.path.display, reason: "ignore-pattern", detail: line + problem.reason)
    }
}

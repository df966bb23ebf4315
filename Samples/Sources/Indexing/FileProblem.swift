/// A file of which the index has nothing, or only the first part.
public struct FileProblem: Sendable, Hashable, Codable {
    /// The number of problems that a status lists at most.
    static let limit = 100

    /// The path below the indexed folder, as `SearchHit.display` has it.
    public let path: String
    /// A raw value of `FileReason`, or `truncated`.
    public let reason: String
    /// The system's words, if there are any.
    public let detail: String
}

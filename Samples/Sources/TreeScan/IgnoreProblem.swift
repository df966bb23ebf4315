/// An ignore file, or a line of one, that has no effect.
public struct IgnoreProblem: Hashable, Sendable, CustomStringConvertible {
    /// The maximum number of problems that a scan keeps.
    static let limit = 100

    /// The file.
    public let path: RelativePath
    /// The line, from 1; 0 for the whole file.
    public let line: Int
    /// The reason, such as "its bracket [ is not closed".
    public let reason: String

    /// One line with the file, the line and the reason.
    public var description: String { "\(path.display)\(line == 0 ? "" : ", line \(line)"): \(reason)" }
}

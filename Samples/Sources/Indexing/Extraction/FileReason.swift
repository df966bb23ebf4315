/// Why a file has no document in the index; the raw value stands in the database and in reports.
public enum FileReason: String, Sendable, CaseIterable, Codable {
    /// The content is not text.
    case binary
    /// The name says that the content is not text; the file was not opened.
    case binaryName = "binary-name"
    /// It was gone when its turn came.
    case vanished
    /// Something else (a device, a pipe, a folder) stood in its place.
    case notAFile = "not-a-file"
    /// This process may not read it.
    case denied = "permission-denied"
    /// The system could not read it.
    case unreadable = "read-error"

    /// Whether the file is left out on purpose, rather than missed because of an error.
    var isSkip: Bool {
        self == .binary || self == .binaryName
    }
}

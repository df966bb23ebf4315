/// The reason for a file without its text, or all of it, in the index. The raw value is in the database and in reports.
public enum FileReason: String, Sendable, CaseIterable, Codable {
    /// The content is not text.
    case binary
    /// The name shows that the content is not text. The file was not opened.
    case binaryName = "binary-name"
    /// The file was gone when its turn came.
    case vanished
    /// Another kind of entry (a device, a pipe, a folder) was in its place.
    case notAFile = "not-a-file"
    /// This process may not read the file.
    case denied = "permission-denied"
    /// The system could not read the file.
    case unreadable = "read-error"
    /// The charset of its text is not known, or some of its bytes are none of it. The rest is in the index.
    case undecodable = "unknown-charset"

    /// The converter of its format could not read the file, or exceeded a limit.
    case conversionFailed = "conversion-failed"
    /// The converter of its format is not installed.
    case converterMissing = "converter-missing"

    /// Whether the file is left out on purpose, rather than missed because of an error.
    var isSkip: Bool {
        self == .binary || self == .binaryName
    }

    /// Whether there is a file, so that its name is found.
    var hasName: Bool {
        self != .vanished && self != .notAFile
    }
}

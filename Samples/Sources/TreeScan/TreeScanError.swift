/// The reason for a scan that could not start.
public enum TreeScanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no such folder.
    case missing(path: String)
    /// The path names something that is not a folder.
    case notAFolder(path: String)
    /// This process may not list the folder.
    case denied(path: String)
    /// Another system call error.
    case failed(path: String, code: Int32)

    /// The failure and its remedy.
    public var description: String {
        switch self {
        case .missing(let path):
            "The folder \(path) does not exist. Check the spelling, or mount the volume it is on."
        case .notAFolder(let path):
            "\(path) is not a folder. Name the folder that holds it."
        case .denied(let path):
            "The folder \(path) cannot be read: permission denied. Run as its owner, or grant read and search rights."
        case .failed(let path, let code):
            "The folder \(path) cannot be opened: \(SystemError.text(code)). Repair the cause and start again."
        }
    }
}

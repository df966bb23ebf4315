internal import Glibc

extension FileError.Code {
    /// The kind of an error number.
    init(number: Int32) {
        self = Self.byNumber[number] ?? .other
    }

    private static let byNumber: [Int32: FileError.Code] = [
        ENOENT: .notFound, ENOTDIR: .notFound, ESTALE: .notFound,
        EEXIST: .alreadyExists, ENOTEMPTY: .alreadyExists,
        EACCES: .permissionDenied, EPERM: .permissionDenied,
        EISDIR: .wrongKind, ENXIO: .wrongKind, ESPIPE: .wrongKind, ELOOP: .wrongKind,
        ENOSPC: .noSpace, EDQUOT: .quotaExceeded, EFBIG: .tooLarge, EOVERFLOW: .tooLarge,
        EROFS: .readOnlyFileSystem,
        EMFILE: .tooManyOpenFiles, ENFILE: .tooManyOpenFiles,
        EIO: .deviceFailure, ENODEV: .deviceFailure,
        EAGAIN: .unavailable, ETIMEDOUT: .unavailable,
        EINVAL: .invalidArgument, ENAMETOOLONG: .invalidArgument, EBADF: .invalidArgument,
    ]

    /// The C library's text for an error number.
    func reason(_ number: Int32) -> String {
        guard number != 0, let text = unsafe strerror(number) else { return rawValue }
        return unsafe String(cString: text)
    }

    /// The remedy for the reader of the message.
    var remedy: String {
        switch self {
        case .notFound: "Check the path, and that no other program removed the file or its directory."
        case .alreadyExists: "Choose another name, or ask for a replacement."
        case .permissionDenied: "Grant the user of the process access to the file and to its directories."
        case .wrongKind: "Give the path of a regular file, or of a directory where one is asked for."
        case .noSpace: "Make room on the file system, then try again; what was there before is unchanged."
        case .quotaExceeded: "Make room within the user's quota, or raise it, then try again."
        case .tooLarge: "Write less, or raise the limit of file sizes (RLIMIT_FSIZE) or use another file system."
        case .readOnlyFileSystem: "Mount the file system for writing, or write elsewhere."
        case .tooManyOpenFiles: "Close files that are not needed, or raise RLIMIT_NOFILE (LimitNOFILE=)."
        case .deviceFailure: "Check the device and the kernel's log, and write the data again elsewhere."
        case .unavailable: "Try again later; the file system did not answer in time."
        case .closed: "Open the file again, and close it after its last use."
        case .invalidArgument: "Check the arguments of the call."
        case .other: "See the manual page of the call."
        }
    }
}

internal import Glibc

extension FileError {
    /// Checks a path that goes to the kernel as a C string. A NUL byte would end it, and another file would be meant.
    ///
    /// - Throws: ``Code/invalidArgument``.
    static func check(path: String, for call: String) throws(FileError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw FileError(call, EINVAL, path: path, detail: "the path is empty or has a NUL byte")
        }
    }
}

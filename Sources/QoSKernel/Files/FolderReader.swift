internal import Glibc

/// The entries of a directory.
package enum FolderReader {
    /// An entry.
    package struct Entry: Sendable, Hashable {
        /// The name, without the directory.
        package let name: String
        /// The kind; of a symbolic link, not of its target.
        package let kind: FileStatus.Kind

        /// Describes an entry.
        package init(name: String, kind: FileStatus.Kind) {
            (self.name, self.kind) = (name, kind)
        }
    }

    /// Reads the entries of a directory, sorted by name, without `.` and `..`.
    ///
    /// - Returns: the entries, or the negated error number of opendir(3) or readdir(3). A directory that is a symbolic
    ///   link is refused with `-ELOOP`.
    package static func read(_ path: String, following: Bool = false) -> (result: Int32, entries: [Entry]) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | (following ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else { return (-errno, []) }
        guard let directory = unsafe fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            return (-code, [])
        }
        defer { unsafe closedir(directory) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(directory) else { break }
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            entries.append(Entry(name: name, kind: kind(of: unsafe entry.pointee.d_type, "\(path)/\(name)")))
        }
        guard errno == 0 else { return (-errno, []) }
        return (0, entries.sorted { $0.name < $1.name })
    }

    /// The kind from a directory's entry. Some file systems leave it to lstat(2).
    private static func kind(of type: UInt8, _ path: String) -> FileStatus.Kind {
        switch Int(type) {
        case DT_REG: .regular
        case DT_DIR: .directory
        case DT_LNK: .symbolicLink
        case DT_FIFO: .fifo
        case DT_SOCK: .socket
        case DT_CHR: .characterDevice
        case DT_BLK: .blockDevice
        default: LinuxFileCalls().status(of: path).status.kind
        }
    }
}

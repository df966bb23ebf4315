internal import Glibc

/// The entries of a directory.
package enum FolderReader {
    /// An entry.
    package struct Entry: Sendable, Hashable {
        /// The name, without the directory. Bytes that are not UTF-8 are replaced.
        package let name: String
        /// The kind; of a symbolic link, not of its target.
        package let kind: FileStatus.Kind
        /// Whether the name is UTF-8. If not, it leads to no file.
        package let isText: Bool

        /// Describes an entry.
        package init(name: String, kind: FileStatus.Kind, isText: Bool = true) {
            (self.name, self.kind, self.isText) = (name, kind, isText)
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
            let bytes = unsafe nameBytes(of: entry)
            let text = String(validating: bytes, as: UTF8.self)
            let name = text ?? String(decoding: bytes, as: UTF8.self)
            if name == "." || name == ".." { continue }
            let type = unsafe entry.pointee.d_type
            entries.append(Entry(name: name, kind: kind(of: type, "\(path)/\(name)"), isText: text != nil))
        }
        guard errno == 0 else { return (-errno, []) }
        return (0, entries.sorted { $0.name < $1.name })
    }

    /// The place of the name in an entry.
    private static let nameOffset = MemoryLayout<dirent>.offset(of: \dirent.d_name)!

    /// The bytes of a name. It may be longer than its field is declared, and the entry may end before the field does.
    static func nameBytes(of entry: UnsafePointer<dirent>) -> [UInt8] {
        let name = unsafe UnsafeRawPointer(entry).advanced(by: nameOffset).assumingMemoryBound(to: CChar.self)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: name, count: strlen(name)))
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

internal import CFileSystem
internal import Glibc
internal import SafeFiles
internal import TreeScan

/// A folder that is being restored. Each step is relative to its descriptor, and follows no link.
final class TargetFolder: Sendable {
    /// The path below the target, for people.
    let path: RelativePath
    let descriptor: Int32
    private let calls: StorageCalls

    /// Opens or makes the target itself.
    init(root path: String, before hook: @escaping StorageHook) throws {
        calls = StorageCalls(place: .target, hook: hook)
        guard calls.allow(.make), unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw BackupError.system("make", path)
        }
        descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupError.system("open", path) }
        self.path = .root
    }

    /// Opens or makes a folder in this one.
    init(_ name: [UInt8], in parent: TargetFolder) throws(FileSystemFailure) {
        path = parent.path.appending(name)
        calls = parent.calls
        let text = name.terminated
        guard calls.allow(.make), unsafe mkdirat(parent.descriptor, text, 0o700) == 0 || errno == EEXIST else {
            throw FileSystemFailure(path: path, operation: "make", code: errno)
        }
        descriptor = unsafe openat(parent.descriptor, text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystemFailure(path: path, operation: "open", code: errno) }
    }

    deinit {
        close(descriptor)
    }

    func failure(_ operation: String, _ name: [UInt8], _ code: Int32 = errno) -> FileSystemFailure {
        FileSystemFailure(path: path.appending(name), operation: operation, code: code)
    }

    /// The kind of an entry, or nil if there is none.
    func kind(of name: [UInt8]) -> mode_t? {
        var status = stat()
        guard unsafe fstatat(descriptor, name.terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return status.st_mode & S_IFMT
    }

    /// The name under which an entry is made. It is the same in each run, so a resumed restore leaves none behind.
    func temporaryName(for name: [UInt8]) -> [UInt8] {
        Array((".qos-restore-" + Identifier(file: name).description.prefix(24)).utf8)
    }

    /// Makes an empty file under the temporary name, in place of one of an earlier run.
    func makeTemporary(for name: [UInt8]) throws(FileSystemFailure) -> Int32 {
        let text = temporaryName(for: name).terminated
        unsafe unlinkat(descriptor, text, 0)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = calls.allow(.create) ? unsafe openat(descriptor, text, flags, 0o600) : -1
        guard file >= 0 else { throw failure("create", name) }
        return file
    }

    /// Gives the finished entry its name.
    ///
    /// - Throws: A failure with `EEXIST` if the name is taken, unless it may be replaced.
    func publish(_ name: [UInt8], replacing: Bool) throws(FileSystemFailure) {
        let temporary = temporaryName(for: name).terminated
        let text = name.terminated
        if !replacing {
            // A hard link never replaces; a rename would.
            if calls.allow(.link), unsafe linkat(descriptor, temporary, descriptor, text, 0) == 0 {
                guard calls.allow(.remove), unsafe unlinkat(descriptor, temporary, 0) == 0 else {
                    throw failure("finish", name)
                }
                return
            }
            let code = errno
            guard code == EPERM || code == ENOTSUP, kind(of: name) == nil else { throw failure("create", name, code) }
        }
        guard calls.allow(.rename), unsafe renameat(descriptor, temporary, descriptor, text) == 0 else {
            throw failure("rename", name)
        }
    }

    /// Removes what `makeTemporary` or `makeSpecial` made.
    func discard(_ name: [UInt8]) {
        unsafe unlinkat(descriptor, temporaryName(for: name).terminated, 0)
    }

    /// Makes a link or a pipe under the temporary name.
    func makeSpecial(_ name: [UInt8], _ content: TreeNode.Content) throws(FileSystemFailure) {
        discard(name)
        let text = temporaryName(for: name).terminated
        var result: Int32 = -1
        if !calls.allow(.create) {
            throw failure("create", name)
        } else if case .link(let target) = content {
            result = unsafe symlinkat(target.terminated, descriptor, text)
        } else {
            result = unsafe mkfifoat(descriptor, text, 0o600)
        }
        guard result == 0 else { throw failure("create", name) }
    }

    /// Makes a hard link, under the temporary name, to a file that is restored already.
    func makeLink(_ name: [UInt8], to other: RelativePath, below root: TargetFolder) throws(FileSystemFailure) {
        discard(name)
        let text = temporaryName(for: name).terminated
        guard calls.allow(.link), unsafe linkat(root.descriptor, other.bytes.terminated, descriptor, text, 0) == 0
        else { throw failure("link", name) }
    }

    /// Whether an entry and another one below the root are names of one file.
    func isSame(_ name: [UInt8], as other: RelativePath, below root: TargetFolder) -> Bool {
        var (left, right) = (stat(), stat())
        return unsafe fstatat(descriptor, name.terminated, &left, AT_SYMLINK_NOFOLLOW) == 0
            && fstatat(root.descriptor, other.bytes.terminated, &right, AT_SYMLINK_NOFOLLOW) == 0
            && left.st_dev == right.st_dev && left.st_ino == right.st_ino
    }

    /// Sets the length of a temporary file, and returns the error number, or 0.
    func setLength(of file: Int32, to size: Int64) -> Int32 {
        calls.allow(.write) && ftruncate(file, off_t(size)) == 0 ? 0 : errno
    }

    /// Writes to a temporary file, and returns the error number, or 0.
    func write(_ bytes: ArraySlice<UInt8>, to file: Int32, at offset: Int64) -> Int32 {
        calls.allow(.write) ? FileBytes.write(bytes, to: file, at: offset) : errno
    }

    /// Puts names and data of the file system on the disk, syncfs(2).
    func synchronize() throws {
        guard calls.allow(.synchronize), syncfs(descriptor) == 0 else {
            throw BackupError.system("write", "the restored files")
        }
    }

    /// The target of a link.
    func target(of name: [UInt8]) -> [UInt8]? {
        LinkTarget.read(name, in: descriptor)
    }

    /// Opens a file that is there, for reading.
    func open(_ name: [UInt8]) -> Int32 {
        unsafe openat(descriptor, name.terminated, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    }

    /// Sets owner, rights and time of a link or a pipe, by name.
    ///
    /// - Returns: Whether the owner could be set.
    func setMetadata(of name: [UInt8], _ node: TreeNode) throws(FileSystemFailure) -> Bool {
        let text = name.terminated
        let isOwned = unsafe fchownat(descriptor, text, node.owner, node.group, AT_SYMLINK_NOFOLLOW) == 0
        if case .pipe = node.content, unsafe fchmodat(descriptor, text, mode_t(node.mode), 0) != 0 {
            throw failure("set the mode", name)
        }
        let times = FileTime.setting(modified: node.modified)
        guard unsafe utimensat(descriptor, text, times, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw failure("set the time", name)
        }
        return isOwned
    }

    /// Sets all that an open file or folder has beside its content; the time last.
    ///
    /// - Returns: What could not be set, because of missing rights or on this file system.
    static func setMetadata(of file: Int32, _ node: TreeNode) -> [String] {
        var missing: [String] = []
        if fchown(file, node.owner, node.group) != 0 { missing.append("owner") }
        for attribute in node.attributes {
            let result = unsafe fsetxattr(file, attribute.name.terminated, attribute.value, attribute.value.count, 0)
            if result != 0 { missing.append(String(decoding: attribute.name, as: UTF8.self)) }
        }
        // A file that belongs to another user must not run as that user's.
        let mode = missing.contains("owner") ? node.mode & 0o1777 : node.mode
        if fchmod(file, mode_t(mode)) != 0 { missing.append("mode") }
        let times = FileTime.setting(modified: node.modified)
        if unsafe futimens(file, times) != 0 { missing.append("time") }
        return missing
    }
}

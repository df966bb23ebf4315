internal import CFileSystem
internal import Glibc
internal import SafeFiles
internal import TreeScan

/// A folder that is being restored. Each step is relative to its descriptor, and follows no link.
///
/// A folder that was there before keeps its owner, rights, attributes and time: it is a person's. One that a restore
/// makes is marked by a file in it until it has the metadata of the snapshot. So a later run tells the two apart after an
/// interruption. The mark is there before the folder has its name.
final class TargetFolder: Sendable {
    /// The name of the mark.
    private static let mark = Array(".qos-restore-unfinished".utf8)
    private static let noReplace: UInt32 = 1
    /// The errors of link(2) that say that this file can have no such name, or not one more.
    static let linkRefusals = [EMLINK, EXDEV, EPERM, ENOTSUP, ENOSYS]

    /// The path below the target, for people.
    let path: RelativePath
    let descriptor: Int32
    /// Whether this run, or one that was interrupted, made the folder.
    private let isNew: Bool
    /// The folder as it was before.
    private let before: EntryStatus?
    private let rights = LentRights()
    private let calls: StorageCalls

    /// Opens or makes the target itself.
    init(root path: String, before hook: @escaping StorageHook) throws {
        calls = StorageCalls(place: .target, hook: hook)
        self.path = .root
        let bytes = PathText.bytes(path)
        var name = bytes[...]
        while name.count > 1, name.last == UInt8(ascii: "/") { name = name.dropLast() }
        let slash = name.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { Array(name[...$0]) } ?? Array("./".utf8)
        let last = Array(slash.map { name[($0 + 1)...] } ?? name)
        do throws(FileSystemFailure) {
            if unsafe access(bytes.terminated, F_OK) != 0, !last.isEmpty {
                let above = unsafe Glibc.open(parent.terminated, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                guard above >= 0 else { throw FileSystemFailure(path: .root, operation: "make", code: errno) }
                defer { close(above) }
                try Self.make(last, in: above, at: .root, LentRights(), calls)
            }
        } catch {
            throw BackupError.system(error.operation, path, code: error.code)
        }
        descriptor = unsafe Glibc.open(bytes.terminated, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupError.system("open", path) }
        before = EntryStatus(descriptor: descriptor)
        isNew = EntryStatus(Self.mark, in: descriptor) != nil
    }

    /// Opens or makes a folder in this one.
    init(_ name: [UInt8], in parent: TargetFolder) throws(FileSystemFailure) {
        path = parent.path.appending(name)
        calls = parent.calls
        let text = name.terminated
        if EntryStatus(name, in: parent.descriptor) == nil {
            try Self.make(name, in: parent.descriptor, at: path, parent.rights, calls)
        }
        descriptor = unsafe openat(parent.descriptor, text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystemFailure(path: path, operation: "open", code: errno) }
        before = EntryStatus(descriptor: descriptor)
        isNew = EntryStatus(Self.mark, in: descriptor) != nil
    }

    deinit {
        rights.giveBack(descriptor)
        close(descriptor)
    }

    /// Makes a folder with the mark under a temporary name, and gives it its name.
    private static func make(
        _ name: [UInt8], in parent: Int32, at path: RelativePath, _ rights: LentRights, _ calls: StorageCalls
    ) throws(FileSystemFailure) {
        let (text, temporary) = (name.terminated, temporaryName(for: name).terminated)
        guard calls.allow(.make),
            rights.retrying(in: parent, { unsafe mkdirat(parent, temporary, 0o700) }) == 0 || errno == EEXIST
        else { throw FileSystemFailure(path: path, operation: "make", code: errno) }
        let folder = unsafe openat(parent, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        let file = folder >= 0 && calls.allow(.create) ? unsafe openat(folder, mark.terminated, flags, 0o600) : -1
        let isMarked = file >= 0
        var code = isMarked ? 0 : errno
        if isMarked { close(file) }
        if isMarked {
            var result: Int32 = calls.allow(.rename) ? 0 : -1
            if result == 0 { result = unsafe renameat2(parent, temporary, parent, text, noReplace) }
            // The file system cannot refuse to replace. A folder that appears right now is replaced only if it is empty.
            if result != 0, errno == EINVAL || errno == ENOSYS, EntryStatus(name, in: parent) == nil {
                result = unsafe renameat(parent, temporary, parent, text)
            }
            code = result == 0 ? 0 : errno
        }
        if code != 0 {
            // AT_REMOVEDIR
            if folder >= 0 { unsafe unlinkat(folder, mark.terminated, 0) }
            unsafe unlinkat(parent, temporary, 0x200)
        }
        if folder >= 0 { close(folder) }
        // Another run made it: its mark tells whether it is finished.
        guard code == 0 || code == EEXIST else { throw FileSystemFailure(path: path, operation: "make", code: code) }
    }

    /// Ends the restore of the folder: one that a restore made gets the metadata of the snapshot.
    ///
    /// - Returns: What could not be set.
    func finish(_ node: TreeNode) -> [String] {
        guard isNew else {
            rights.giveBack(descriptor)
            // It had this time, as after an earlier restore, and only what was written here changed it.
            if before?.stamp.modified == node.modified {
                _ = unsafe futimens(descriptor, FileTime.setting(modified: node.modified))
            }
            return []
        }
        guard calls.allow(.remove), unsafe unlinkat(descriptor, Self.mark.terminated, 0) == 0 || errno == ENOENT else {
            return ["mode"]
        }
        return Self.setMetadata(of: descriptor, node)
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
    static func temporaryName(for name: [UInt8]) -> [UInt8] {
        Array((".qos-restore-" + Identifier(file: name).description.prefix(24)).utf8)
    }

    /// Makes an empty file under the temporary name, in place of one of an earlier run.
    func makeTemporary(for name: [UInt8]) throws(FileSystemFailure) -> Int32 {
        discard(name)
        let text = Self.temporaryName(for: name).terminated
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file =
            calls.allow(.create)
            ? rights.retrying(in: descriptor) { unsafe openat(descriptor, text, flags, 0o600) } : -1
        guard file >= 0 else { throw failure("create", name) }
        return file
    }

    /// Gives the finished entry its name.
    ///
    /// - Throws: A failure with `EEXIST` if the name is taken, unless it may be replaced.
    func publish(_ name: [UInt8], replacing: Bool) throws(FileSystemFailure) {
        let temporary = Self.temporaryName(for: name).terminated
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
            guard Self.linkRefusals.contains(code), kind(of: name) == nil else { throw failure("create", name, code) }
        }
        guard calls.allow(.rename), unsafe renameat(descriptor, temporary, descriptor, text) == 0 else {
            throw failure("rename", name)
        }
    }

    /// Removes what `makeTemporary` or `makeSpecial` made.
    func discard(_ name: [UInt8]) {
        let text = Self.temporaryName(for: name).terminated
        _ = rights.retrying(in: descriptor) { unsafe unlinkat(descriptor, text, 0) }
    }

    /// Makes a link or a pipe under the temporary name.
    func makeSpecial(_ name: [UInt8], _ content: TreeNode.Content) throws(FileSystemFailure) {
        discard(name)
        let text = Self.temporaryName(for: name).terminated
        guard calls.allow(.create) else { throw failure("create", name) }
        let result = rights.retrying(in: descriptor) {
            if case .link(let target) = content {
                unsafe symlinkat(target.terminated, descriptor, text)
            } else {
                unsafe mkfifoat(descriptor, text, 0o600)
            }
        }
        guard result == 0 else { throw failure("create", name) }
    }

    /// Makes a hard link, under the temporary name, to a file that is restored already.
    func makeLink(_ name: [UInt8], to other: RelativePath, below root: TargetFolder) throws(FileSystemFailure) {
        discard(name)
        let text = Self.temporaryName(for: name).terminated
        guard let folder = root.open(other.parent) else { throw failure("link", name) }
        let result =
            calls.allow(.link)
            ? rights.retrying(in: descriptor) {
                unsafe linkat(folder.number, other.name.terminated, descriptor, text, 0)
            } : -1
        guard result == 0 else { throw failure("link", name) }
    }

    /// Whether an entry and another one below the root are names of one file.
    func isSame(_ name: [UInt8], as other: RelativePath, below root: TargetFolder) -> Bool {
        guard let folder = root.open(other.parent), let left = EntryStatus(name, in: descriptor),
            let right = EntryStatus(other.name, in: folder.number)
        else { return false }
        return left.stamp.device == right.stamp.device && left.stamp.inode == right.stamp.inode
    }

    /// Opens a folder below this one, step by step: a path may be longer than one call takes. Nil on failure, with
    /// `errno` set.
    private func open(_ path: RelativePath) -> OpenDescriptor? {
        // O_PATH: passing through a folder needs no right to list it.
        let flags = 0o10_000_000 | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let start = unsafe openat(descriptor, ".", flags)
        guard start >= 0 else { return nil }
        var folder = OpenDescriptor(owning: start)
        for name in path.components {
            let next = unsafe openat(folder.number, name.terminated, flags)
            guard next >= 0 else { return nil }
            folder = OpenDescriptor(owning: next)
        }
        return folder
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

    /// Opens a file that is there, for reading. A pipe opens at once, too.
    func open(_ name: [UInt8]) -> Int32 {
        unsafe openat(descriptor, name.terminated, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    }

    /// Sets owner, rights and time of a link or a pipe, by name.
    ///
    /// - Returns: What could not be set.
    func setMetadata(of name: [UInt8], _ node: TreeNode) throws(FileSystemFailure) -> [String] {
        if case .pipe = node.content {
            let pipe = open(name)
            guard pipe >= 0 else { throw failure("open", name) }
            defer { close(pipe) }
            return Self.setMetadata(of: pipe, node)
        }
        let text = name.terminated
        let isOwned = unsafe fchownat(descriptor, text, node.owner, node.group, AT_SYMLINK_NOFOLLOW) == 0
        let times = FileTime.setting(modified: node.modified)
        guard unsafe utimensat(descriptor, text, times, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw failure("set the time", name)
        }
        return isOwned ? [] : ["owner"]
    }

    /// Sets all that an open entry has beside its content, and removes attributes that the snapshot does not have; the
    /// time last.
    ///
    /// - Returns: What could not be set, because of missing rights or on this file system.
    static func setMetadata(of file: Int32, _ node: TreeNode) -> [String] {
        var missing: [String] = []
        if fchown(file, node.owner, node.group) != 0 { missing.append("owner") }
        // Before the mode: its bits for the group mean another thing with an access list.
        let surplus = ExtendedAttributes.removeSurplus(of: file, keeping: node.attributes.map(\.name))
        missing += surplus.map { String(decoding: $0, as: UTF8.self) }
        // Access lists last: they may take the right to set the others.
        let (lists, others) = (
            node.attributes.filter { $0.name.starts(with: "system.".utf8) },
            node.attributes.filter { !$0.name.starts(with: "system.".utf8) }
        )
        for attribute in others + lists {
            let isSet = ExtendedAttributes.set(attribute.name, to: attribute.value, of: file)
            if !isSet { missing.append(String(decoding: attribute.name, as: UTF8.self)) }
        }
        // A file that belongs to another user must not run as that user's.
        let mode = missing.contains("owner") ? node.mode & 0o1777 : node.mode
        if fchmod(file, mode_t(mode)) != 0 { missing.append("mode") }
        let times = FileTime.setting(modified: node.modified)
        if unsafe futimens(file, times) != 0 { missing.append("time") }
        return missing
    }
}

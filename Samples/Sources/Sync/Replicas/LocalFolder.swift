internal import CFileSystem
internal import Glibc
internal import SafeFiles
package import TreeScan

/// An open folder of this machine. Each step is relative to its descriptor.
package final class LocalFolder: ReplicaFolder {
    package let path: RelativePath
    package let descriptor: Int32
    /// Whether one syncfs(2) covers this folder's files.
    package let isCovered: Bool

    /// The right to write that the folder's owner does not have, for as long as this object lives.
    private let rights: LentRights

    private static let noReplace: UInt32 = 1
    private static let exchange: UInt32 = 2

    package init(_ path: RelativePath, in root: RootFolder, on volumes: Volumes) throws(FileSystemFailure) {
        descriptor = try root.descriptor(of: path, for: .listing)
        isCovered = volumes.enter(descriptor)
        self.path = path
        rights = LentRights { volumes.noteLoan(path, mode: $0) }
    }

    deinit {
        rights.giveBack(descriptor)
        close(descriptor)
    }

    package func status() throws(FileSystemFailure) -> EntryStatus {
        guard let status = EntryStatus(descriptor: descriptor) else { throw failure("stat", []) }
        return status
    }

    package func status(_ name: [UInt8]) throws(FileSystemFailure) -> EntryStatus? {
        if let status = EntryStatus(name, in: descriptor) { return status }
        guard errno == ENOENT else { throw failure("stat", name) }
        return nil
    }

    /// Makes an empty file.
    package func makeFile(_ name: [UInt8]) throws(FileSystemFailure) -> Int32 {
        let file = rights.retrying(in: descriptor) {
            unsafe openat(descriptor, name.terminated, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard file >= 0 else { throw failure("create", name) }
        return file
    }

    /// Opens a file that is there; nil on failure.
    package func openFile(_ name: [UInt8], writing: Bool) -> Int32? {
        let flags = (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = unsafe openat(descriptor, name.terminated, flags)
        return file < 0 ? nil : file
    }

    package func makeLink(_ name: [UInt8], to target: [UInt8]) throws(FileSystemFailure) {
        let result = rights.retrying(in: descriptor) {
            unsafe symlinkat(target.terminated, descriptor, name.terminated)
        }
        guard result == 0 else { throw failure("create", name) }
    }

    package func makePipe(_ name: [UInt8]) throws(FileSystemFailure) {
        let result = rights.retrying(in: descriptor) { unsafe mkfifoat(descriptor, name.terminated, 0o600) }
        guard result == 0 else { throw failure("create", name) }
    }

    package func makeName(
        _ temporary: [UInt8], of name: [UInt8], in folder: any ReplicaFolder
    ) throws(FileSystemFailure) {
        guard let folder = folder as? LocalFolder else { throw failure("link", temporary, EXDEV) }
        let result = rights.retrying(in: descriptor) {
            unsafe linkat(folder.descriptor, name.terminated, descriptor, temporary.terminated, 0)
        }
        guard result == 0 else { throw failure("link", temporary) }
    }

    package func makeFolder(_ name: [UInt8]) throws(FileSystemFailure) {
        let result = rights.retrying(in: descriptor) { unsafe mkdirat(descriptor, name.terminated, 0o700) }
        guard result == 0 else { throw failure("make", name) }
    }

    package func remove(_ name: [UInt8], isFolder: Bool) throws(FileSystemFailure) {
        // AT_REMOVEDIR
        let result = rights.retrying(in: descriptor) {
            unsafe unlinkat(descriptor, name.terminated, isFolder ? 0x200 : 0)
        }
        guard result == 0 else { throw failure("remove", name) }
    }

    package func discard(_ name: [UInt8]) {
        _ = rights.retrying(in: descriptor) { unsafe unlinkat(descriptor, name.terminated, 0) }
    }

    /// Gives the folder the mode back that it had before the loan of a run that was killed.
    func giveBack(mode: UInt32) { LentRights.giveBack(descriptor, mode: mode) }

    /// Whether the file system has room for some more bytes, and a reserve stays.
    ///
    /// A file that would fill a disk to its end leaves no room for any other, and for other programs.
    package func hasRoom(for bytes: Int64) -> Bool {
        var system = statvfs()
        guard bytes > 0, unsafe fstatvfs(descriptor, &system) == 0, system.f_blocks > 0 else { return true }
        func size(_ blocks: UInt) -> UInt64 {
            let (product, overflows) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(system.f_frsize))
            return overflows ? .max : product
        }
        let reserve = min(max(size(UInt(system.f_blocks)) / 100, 1 << 20), 16 << 20)
        return size(UInt(system.f_bavail)) >= UInt64(bytes).addingClamped(reserve)
    }

    package func rename(
        _ old: [UInt8], to new: [UInt8], in folder: any ReplicaFolder
    ) throws(FileSystemFailure) {
        guard let folder = folder as? LocalFolder else { throw folder.failure("rename to", new, EXDEV) }
        // Either folder may be the one without the right.
        let result = rights.retrying(in: descriptor) {
            folder.rights.retrying(in: folder.descriptor) {
                unsafe renameat2(descriptor, old.terminated, folder.descriptor, new.terminated, Self.noReplace)
            }
        }
        if result == 0 { return }
        guard errno == EINVAL || errno == ENOSYS else { throw folder.failure("rename to", new) }
        // The file system cannot do it at once. A hard link never replaces either.
        if unsafe linkat(descriptor, old.terminated, folder.descriptor, new.terminated, 0) == 0 {
            unsafe unlinkat(descriptor, old.terminated, 0)
            return
        }
        guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS else { throw folder.failure("rename to", new) }
        if try folder.status(new) != nil { throw folder.failure("rename to", new, EEXIST) }
        guard unsafe renameat(descriptor, old.terminated, folder.descriptor, new.terminated) == 0 else {
            throw folder.failure("rename to", new)
        }
    }

    package func exchange(
        _ temporary: [UInt8], with name: [UInt8], ifStill old: Observation
    ) throws(FileSystemFailure) -> NameExchange {
        guard let status = try status(name), old.isSame(as: status) else { return .refused }
        let result = rights.retrying(in: descriptor) {
            unsafe renameat2(descriptor, temporary.terminated, descriptor, name.terminated, Self.exchange)
        }
        if result == 0 { return .exchanged }
        guard errno == EINVAL || errno == ENOSYS else { throw failure("rename to", name) }
        guard unsafe renameat(descriptor, temporary.terminated, descriptor, name.terminated) == 0 else {
            throw failure("rename to", name)
        }
        return .replaced
    }

    package func setMetadata(
        _ name: [UInt8], _ metadata: Metadata, kind: FileKind, owner: Bool
    ) throws(FileSystemFailure) {
        let text = name.terminated
        let result: Int32 =
            if owner {
                unsafe fchownat(descriptor, text, metadata.owner, metadata.group, AT_SYMLINK_NOFOLLOW)
            } else {
                -1
            }
        let isOwned = result == 0
        if kind != .symbolicLink {
            // fchmodat(2) would follow a link that is there by now; a descriptor does not.
            let mode = mode_t(isOwned ? metadata.mode : metadata.mode & 0o1777)
            if kind == .fifo {
                _ = unsafe fchmodat(descriptor, text, mode, 0)
            } else {
                guard let file = openFile(name, writing: false) else { throw failure("open", name) }
                defer { close(file) }
                guard fchmod(file, mode) == 0 || errno == EPERM && EntryStatus(descriptor: file)?.mode == UInt32(mode)
                else { throw failure("set the mode of", name) }
            }
        }
        guard kind != .directory else { return }
        let times = FileTime.setting(modified: metadata.modified)
        guard unsafe utimensat(descriptor, text, times, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw failure("set the time of", name)
        }
    }

    package func setTime(_ name: [UInt8], _ modified: Int64) {
        _ = unsafe utimensat(
            descriptor, (name.isEmpty ? Array(".".utf8) : name).terminated, FileTime.setting(modified: modified),
            AT_SYMLINK_NOFOLLOW)
    }

    package func attributes(of name: [UInt8]) -> AttributeSet? {
        guard let file = openFile(name, writing: false) else { return nil }
        defer { close(file) }
        return ExtendedAttributes.all(of: file)
    }

    package func changeAttributes(
        of name: [UInt8], setting values: AttributeSet, removing names: [[UInt8]]
    ) throws(FileSystemFailure) -> [[UInt8]] {
        guard let file = openFile(name, writing: false) else { throw failure("open", name) }
        defer { close(file) }
        return ExtendedAttributes.change(file, setting: values, removing: names)
    }

    /// The bytes of a file that occupy room, or all if its file system does not know.
    static func occupied(_ file: Int32) -> Int64 {
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { return .max }
        let (bytes, overflows) = Int64(status.st_blocks).multipliedReportingOverflow(by: 512)
        return overflows ? Int64(status.st_size) : min(bytes, Int64(status.st_size))
    }

    /// Sets the same of an open file.
    ///
    /// - Parameters:
    ///   - attributes: The extended attributes that it gets, and no others; nil to leave them.
    ///   - lost: The names of the attributes that it lacks.
    package static func setMetadata(
        _ file: Int32, _ metadata: Metadata, owner: Bool, attributes: AttributeSet?, lost: inout [[UInt8]]
    ) -> Int32 {
        let isOwned = owner && fchown(file, metadata.owner, metadata.group) == 0
        // Between the owner, whose change takes capabilities away, and the mode, which has a part of an access list.
        if let attributes { lost += ExtendedAttributes.replace(of: file, by: attributes) }
        // A program of another user must not become one of this user.
        if fchmod(file, mode_t(isOwned ? metadata.mode : metadata.mode & 0o1777)) != 0, errno != EPERM { return errno }
        return unsafe futimens(file, FileTime.setting(modified: metadata.modified)) == 0 ? 0 : errno
    }
    /// Sets the same of an open file, without attributes.
    package static func setMetadata(_ file: Int32, _ metadata: Metadata, owner: Bool) -> Int32 {
        var lost: [[UInt8]] = []
        return setMetadata(file, metadata, owner: owner, attributes: nil, lost: &lost)
    }
}

internal import CFileSystem
internal import Glibc
internal import SafeFiles
internal import TreeScan

/// The place of what a removal or a new version takes: `FOLDER/2026-01-31T12-00-00Z/B/path`.
///
/// An entry moves there from its temporary name, after the last look. On another file system it is copied first. Both
/// sides must be folders of this machine. One task at a time.
final class VersionStore {
    private static let piece = 1 << 20
    private static let noReplace: UInt32 = 1

    private let place: String
    /// The folder of the run, and nothing before the first entry.
    private let stamp: String
    /// The number of entries that are kept so far.
    private(set) var count = 0

    /// Names a place. It is made with the first entry.
    ///
    /// - Parameter time: The present, in nanoseconds since 1970.
    init(in place: String, at time: Int64) {
        self.place = place
        stamp = FileTime.text(time).replacing(":", with: "-")
    }

    /// Takes an entry away from its folder.
    ///
    /// - Parameters:
    ///   - temporary: The name that it has now.
    ///   - path: The path that it had.
    /// - Throws: `FileSystemFailure`. The entry is then where it was.
    func keep(
        _ temporary: [UInt8], of path: RelativePath, on side: Side, in folder: any ReplicaFolder
    ) throws(FileSystemFailure) {
        guard let folder = folder as? LocalFolder else { throw folder.failure("keep a version of", temporary, EXDEV) }
        let target = try self.folder(of: path, on: side)
        var name = Array(path.name)
        for number in 2... {
            do throws(FileSystemFailure) {
                try move(temporary, in: folder, to: name, in: target.number, path)
                count += 1
                return
            } catch {
                guard error.code == EEXIST, number < 1000 else { throw error }
                name = Array(path.name.prefix(240)) + Array("~\(number)".utf8)
            }
        }
    }

    private func move(
        _ temporary: [UInt8], in folder: LocalFolder, to name: [UInt8], in target: Int32, _ path: RelativePath
    ) throws(FileSystemFailure) {
        func failure(_ code: Int32) -> FileSystemFailure {
            FileSystemFailure(path: path, operation: "keep a version of", code: code)
        }
        if unsafe renameat2(folder.descriptor, temporary.terminated, target, name.terminated, Self.noReplace) == 0 {
            return
        }
        guard [EXDEV, EINVAL, ENOSYS].contains(errno) else { throw failure(errno) }
        guard let status = try folder.status(temporary) else { throw failure(ENOENT) }
        let metadata = Metadata(of: status, owners: LocalReplica.canSetOwners)
        switch status.kind {
        case .regular:
            guard let source = folder.openFile(temporary, writing: false) else { throw failure(errno) }
            let input = OpenDescriptor(owning: source)
            let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
            let made = unsafe openat(target, name.terminated, flags, 0o600)
            guard made >= 0 else { throw failure(errno) }
            let output = OpenDescriptor(owning: made)
            let code = Self.copy(input, to: output, metadata)
            guard code == 0 else {
                unsafe unlinkat(target, name.terminated, 0)
                throw failure(code)
            }
        case .symbolicLink:
            guard let text = LinkTarget.read(temporary, in: folder.descriptor),
                unsafe symlinkat(text.terminated, target, name.terminated) == 0
            else { throw failure(errno) }
        default:
            guard unsafe mkfifoat(target, name.terminated, mode_t(status.mode)) == 0 else { throw failure(errno) }
        }
        try folder.remove(temporary, isFolder: false)
    }

    /// Copies content and metadata, and puts them on the disk. Returns the error number, or 0.
    private static func copy(_ input: OpenDescriptor, to output: OpenDescriptor, _ metadata: Metadata) -> Int32 {
        var position = 0
        while true {
            let (bytes, code) = FileBytes.read(input.number, from: position, count: piece)
            guard code == 0 else { return code }
            guard !bytes.isEmpty else { break }
            let written = FileBytes.write(bytes[...], to: output.number, at: Int64(position))
            guard written == 0 else { return written }
            position += bytes.count
        }
        let code = LocalFolder.setMetadata(output.number, metadata, owner: LocalReplica.canSetOwners)
        return code == 0 ? output.synchronize() : code
    }

    /// Opens or makes the folder for a path, step by step.
    private func folder(of path: RelativePath, on side: Side) throws(FileSystemFailure) -> OpenDescriptor {
        func failure() -> FileSystemFailure {
            FileSystemFailure(path: path, operation: "make a place for", code: errno)
        }
        guard unsafe mkdir(place, 0o700) == 0 || errno == EEXIST else { throw failure() }
        let start = unsafe open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard start >= 0 else { throw failure() }
        var folder = OpenDescriptor(owning: start)
        let names = [Array(stamp.utf8), Array(side.rawValue.utf8)] + path.parent.components.map { Array($0) }
        for name in names {
            guard unsafe mkdirat(folder.number, name.terminated, 0o700) == 0 || errno == EEXIST else { throw failure() }
            let next = unsafe openat(folder.number, name.terminated, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw failure() }
            folder = OpenDescriptor(owning: next)
        }
        return folder
    }
}

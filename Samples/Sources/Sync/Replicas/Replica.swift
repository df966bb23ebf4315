internal import CFileSystem
internal import Glibc
internal import SafeFiles
internal import Synchronization
internal import TreeScan

/// One of the two folders, open. Threads may share it.
final class Replica: Sendable {
    let side: Side
    let root: RootFolder
    /// Whether owners are in step: the process may set them.
    let setsOwners: Bool

    private static let prefix = Array(".qos-sync-".utf8)
    private let ownPrefix: [UInt8]
    private let count = Atomic<Int>(0)

    /// Opens the folder.
    ///
    /// - Parameter pair: The name of the archive. Other pairs have other temporary files.
    init(_ side: Side, path: String, pair: String) throws(TreeScanError) {
        self.side = side
        root = try RootFolder(path)
        setsOwners = geteuid() == 0
        ownPrefix = Self.prefix + Array(pair.utf8) + Array("-".utf8)
    }

    /// The identity of the root.
    func identity() throws(FileSystemFailure) -> FileStamp {
        let folder = try ReplicaFolder(.root, in: root)
        guard let status = EntryStatus(descriptor: folder.descriptor) else { throw folder.failure("stat", []) }
        return status.stamp
    }

    /// Opens a folder below the root.
    func folder(_ path: RelativePath) throws(FileSystemFailure) -> ReplicaFolder {
        try ReplicaFolder(path, in: root)
    }

    /// A name for a temporary file that no other has, also not one of an earlier process.
    func temporaryName() -> [UInt8] {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        return ownPrefix + Array("\(getpid())-\(number)-\(UInt32.random(in: 0...UInt32.max))".utf8)
    }

    /// The metadata of an entry, as far as it is kept in step.
    func metadata(of status: EntryStatus) -> Metadata {
        Metadata(
            mode: status.kind == .symbolicLink ? 0o777 : status.mode, owner: setsOwners ? status.owner : 0,
            group: setsOwners ? status.group : 0, modified: status.kind == .directory ? 0 : status.stamp.modified)
    }

    // MARK: The scan

    /// Looks at all entries. Blocks its thread.
    ///
    /// - Throws: `TreeScanError`, or `FileSystemFailure` if the root itself cannot be listed to its end.
    func scan(at time: Int64) throws -> SideScan {
        let scanner = try TreeScanner(root: root, options: ScanOptions(excludedNames: []))
        var scan = SideScan()
        scan.time = time
        while let event = scanner.next() {
            switch event {
            case .folder(let path): if let status = scanner.status { add(path, status, to: &scan) }
            case .file(let path, _): if let status = scanner.status { add(path, status, to: &scan) }
            case .leftOut(let path, let kind):
                switch kind {
                case .symbolicLink, .fifo: if let status = scanner.status { add(path, status, to: &scan) }
                case .socket, .device, .directory, .regular:
                    scan.blocked.insert(path)
                    scan.skipped.append("\(display(path)): a \(kind.rawValue) is not synced")
                }
            case .failure(let failure):
                guard failure.path != .root else { throw failure }
                scan.blocked.insert(failure.path)
                scan.skipped.append("\(side.rawValue): \(failure)")
            }
        }
        scan.entries.sort { $0.path < $1.path }
        return scan
    }

    private func add(_ path: RelativePath, _ status: EntryStatus, to scan: inout SideScan) {
        if status.kind != .directory, path.name.starts(with: Self.prefix) {
            if path.name.starts(with: ownPrefix) { scan.leftovers.append(path) }
            return
        }
        var entry = Observation(
            path: path, kind: status.kind, metadata: metadata(of: status), stamp: status.stamp)
        if status.kind == .symbolicLink {
            do throws(FileSystemFailure) {
                let link = try root.descriptor(of: path, for: .status)
                defer { close(link) }
                guard let target = LinkTarget.read([], in: link) else {
                    throw FileSystemFailure(path: path, operation: "read the link", code: errno)
                }
                entry.target = target
            } catch {
                scan.blocked.insert(path)
                scan.skipped.append("\(side.rawValue): \(error)")
                return
            }
        }
        scan.entries.append(entry)
    }

    func display(_ path: RelativePath) -> String { "\(side.rawValue)/\(path.display)" }

    // MARK: The file system

    /// Whether names that differ in case only are one name: found out by a temporary file, or from an entry alone.
    func foldsCase(_ scan: SideScan, probing: Bool) -> Bool {
        guard let folder = try? ReplicaFolder(.root, in: root) else { return false }
        let known = scan.entries.lazy.map { Array($0.path.bytes) }.first { path in
            !path.contains(UInt8(ascii: "/")) && Self.swapped(path) != path
        }
        if let known, let first = try? folder.status(known), let second = try? folder.status(Self.swapped(known)) {
            // Two hard links with such names are two entries.
            return first.stamp.inode == second.stamp.inode
                && scan.entry(RelativePath(bytes: Self.swapped(known))) == nil
        }
        guard known == nil, probing else { return false }
        let name = temporaryName()
        guard let file = try? folder.makeFile(name) else { return false }
        defer { folder.discard(name) }
        close(file)
        return (try? folder.status(Self.swapped(name))) != nil
    }

    private static func swapped(_ name: [UInt8]) -> [UInt8] {
        name.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 32
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
            default: byte
            }
        }
    }

    /// Puts all that was written on this side on the disk.
    func synchronize() throws(SyncError) {
        guard let folder = try? ReplicaFolder(.root, in: root) else {
            throw .replaced(side, path: root.path)
        }
        guard syncfs(folder.descriptor) == 0 else { throw .notWritten(side, code: errno) }
    }
}

internal import CFileSystem
internal import Glibc
internal import QoSRuntime
internal import SafeFiles
internal import Synchronization
package import TreeScan

/// A folder of this machine, open. Threads may share it.
package final class LocalReplica: Replica {
    /// Whether this process can set owners.
    package static var canSetOwners: Bool { geteuid() == 0 }

    package let side: Side
    package let root: RootFolder

    package var place: String { root.path }
    package var setsOwners: Bool { owners.load(ordering: .relaxed) }

    private let owners: Atomic<Bool>
    private let ownPrefix: [UInt8]
    private let count = Atomic<Int>(0)
    private let volumes: Volumes

    /// Opens the folder.
    ///
    /// - Parameter pair: The name of the archive. Other pairs have other temporary files.
    package convenience init(_ side: Side, path: String, pair: String) throws(TreeScanError) {
        try self.init(side, path: path, pair: pair, on: Volumes())
    }

    init(_ side: Side, path: String, pair: String, on volumes: Volumes) throws(TreeScanError) {
        self.side = side
        self.volumes = volumes
        root = try RootFolder(path)
        owners = Atomic(Self.canSetOwners)
        ownPrefix = TemporaryName.prefix(pair: pair)
    }

    package func begin(settingOwners: Bool) -> Bool {
        let both = settingOwners && Self.canSetOwners
        owners.store(both, ordering: .relaxed)
        volumes.reset()
        _ = try? localFolder(.root)
        return both
    }

    /// Sets what takes note of a folder whose mode is about to change for the moment.
    func setLoanNote(_ note: @escaping @Sendable (_ folder: RelativePath, _ mode: UInt32) -> Void) {
        volumes.setNote(note)
    }

    package func checkIsCurrent() throws(SyncError) {
        guard root.isCurrent else { throw .replaced(side, path: root.path) }
    }

    package func identity() throws(FileSystemFailure) -> UInt64 {
        try localFolder(.root).status().stamp.inode
    }

    package func folder(_ path: RelativePath) throws(FileSystemFailure) -> any ReplicaFolder {
        try localFolder(path)
    }

    /// Opens a folder below the root.
    package func localFolder(_ path: RelativePath) throws(FileSystemFailure) -> LocalFolder {
        try LocalFolder(path, in: root, on: volumes)
    }

    package func temporaryName() -> [UInt8] {
        TemporaryName.make(ownPrefix, count.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    // MARK: The scan

    /// Looks at all entries.
    ///
    /// - Throws: `TreeScanError`, or `FileSystemFailure` if the root itself cannot be listed to its end.
    package func scan(at time: Int64, probing: Bool, leavingOut rules: ExcludeRules) async throws -> SideScan {
        try await QoS.withBlocking {
            var scan = try look(at: time, Exclusions(rules))
            scan.foldsCase = foldsCase(scan, probing: probing)
            return scan
        }
    }

    private func look(at time: Int64, _ exclusions: Exclusions) throws -> SideScan {
        var exclusions = exclusions
        let scanner = try TreeScanner(root: root, options: ScanOptions(excludedNames: []))
        var scan = SideScan()
        scan.time = time
        while let event = scanner.next() {
            switch event {
            case .folder(let path):
                if let status = scanner.status { add(path, status, to: &scan) }
                if exclusions.contain(path, isFolder: true) { scanner.skipFolder() }
            case .file(let path, _): if let status = scanner.status { add(path, status, to: &scan) }
            case .leftOut(let path, let kind):
                switch kind {
                case .symbolicLink, .fifo: if let status = scanner.status { add(path, status, to: &scan) }
                case .socket, .device, .directory, .regular:
                    scan.blocked.insert(path)
                    guard !exclusions.contain(path, isFolder: false) else { break }
                    scan.skipped.append("\(display(path)): a \(kind.rawValue) is not synced")
                }
            case .failure(let failure):
                guard failure.path != .root else { throw failure }
                scan.blocked.insert(failure.path)
                guard !exclusions.contain(failure.path, isFolder: true) else { break }
                scan.skipped.append("\(side.rawValue): \(failure)")
            }
        }
        scan.entries.sort { $0.path < $1.path }
        return scan
    }

    private func add(_ path: RelativePath, _ status: EntryStatus, to scan: inout SideScan) {
        if status.kind != .directory, path.name.starts(with: TemporaryName.prefix) {
            if path.name.starts(with: ownPrefix) { scan.leftovers.append(path) }
            return
        }
        var entry = Observation(
            path: path, kind: status.kind, metadata: Metadata(of: status, owners: setsOwners), stamp: status.stamp,
            links: status.links)
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

    // MARK: The file system

    /// Whether names that differ in case only are one name: found out by a temporary file, or from an entry alone.
    private func foldsCase(_ scan: SideScan, probing: Bool) -> Bool {
        guard let folder = try? localFolder(.root) else { return false }
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

    package func attributes(of paths: [RelativePath]) async throws -> [RelativePath: AttributePrint] {
        await QoS.withBlocking {
            var found: [RelativePath: AttributePrint] = [:]
            for path in paths {
                guard let file = try? root.descriptor(of: path, for: .reading) else { continue }
                defer { close(file) }
                if let values = ExtendedAttributes.all(of: file) { found[path] = AttributePrint(values) }
            }
            return found
        }
    }

    package func digest(of entry: Observation) async throws -> [UInt8]? {
        guard let file = try? root.descriptor(of: entry.path, for: .reading) else { return nil }
        let input = OpenDescriptor(owning: file)
        guard let before = EntryStatus(descriptor: file), before.kind == .regular, before.stamp == entry.stamp else {
            return nil
        }
        guard let digest = await FileDigest.compute(input, to: before.stamp.size) else { return nil }
        return EntryStatus(descriptor: file)?.stamp == before.stamp ? digest : nil
    }

    // MARK: The disk

    package func synchronize(_ changes: DiskChanges) async throws {
        try await QoS.withBlocking { try synchronizeNow(changes) }
    }

    /// Does the same on the calling thread.
    package func synchronizeNow(_ changes: DiskChanges) throws(SyncError) {
        guard !changes.isEmpty else { return }
        let isForAll =
            changes.hasMore
            || SyncChoice.isOneWaitBetter(for: changes.entries.count, others: volumes.disk.unwrittenBytes())
        if isForAll { try synchronizeVolumes() }
        guard !isForAll || volumes.all.contains(where: { !$0.isCovered }) else { return }
        for path in changes.entries.sorted() {
            do throws(FileSystemFailure) {
                let entry = OpenDescriptor(owning: try root.descriptor(of: path, for: .reading))
                if isForAll, volumes.covers(entry.number) { continue }
                volumes.disk.waits(.entry)
                let code = FileBytes.synchronizeNames(in: entry.number)
                guard code == 0 else { throw FileSystemFailure(path: path, operation: "write", code: code) }
            } catch {
                // What is gone by now has nothing to wait for, and what this user may not open is covered by all.
                if error.isVanished { continue }
                guard error.isDenied else { throw .notWritten(side, code: error.code) }
                try synchronizeVolumes()
            }
        }
    }

    private func synchronizeVolumes() throws(SyncError) {
        for volume in volumes.all {
            volumes.disk.waits(.volume)
            guard syncfs(volume.descriptor.number) == 0 else { throw .notWritten(side, code: errno) }
        }
    }
}

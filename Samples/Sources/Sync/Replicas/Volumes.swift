internal import CFileSystem
internal import Foundation
internal import Glibc
internal import SafeFiles
internal import Synchronization
internal import TreeScan

/// A file system that has folders of a side.
struct Volume: Sendable {
    /// A folder of it. It is open from before the first write on, so syncfs(2) reports each write that fails.
    let descriptor: OpenDescriptor
    /// Whether one syncfs(2) covers all files, and reports each write that failed.
    let isCovered: Bool
}

/// The ways to put something on the disk, and what they depend on. Tests have their own.
struct DiskAccess: Sendable {
    /// A wait for the disk.
    enum Wait: Sendable, Hashable {
        /// For the content of a new file.
        case file
        /// For the names in a folder, or the metadata of an entry.
        case entry
        /// For a whole file system.
        case volume
    }

    /// Whether syncfs(2) is enough on file systems of a type of statfs(2).
    var covers: @Sendable (_ type: Int) -> Bool = Volumes.isCovered
    /// The bytes that are not on the disk; nil if it is not known.
    var unwrittenBytes: @Sendable () -> Int64? = { SyncChoice.unwrittenBytes() }
    /// Called before each wait.
    var waits: @Sendable (Wait) -> Void = { _ in }
}

/// The file systems of a side that a run came to. Threads may share it.
package final class Volumes: Sendable {
    let disk: DiskAccess
    private let open = Mutex<[UInt64: Volume]>([:])
    private let loans = Mutex<(@Sendable (RelativePath, UInt32) -> Void)?>(nil)

    init(_ disk: DiskAccess = DiskAccess()) {
        self.disk = disk
    }

    /// Sets what takes note of a folder whose mode is about to change for the moment.
    func setNote(_ note: @escaping @Sendable (_ folder: RelativePath, _ mode: UInt32) -> Void) {
        loans.withLock { $0 = note }
    }

    func noteLoan(_ folder: RelativePath, mode: UInt32) {
        loans.withLock { $0 }?(folder, mode)
    }

    /// The file systems so far.
    var all: [Volume] { open.withLock { Array($0.values) } }

    /// Forgets all, at the begin of a run.
    func reset() { open.withLock { $0 = [:] } }

    /// Whether one syncfs(2) covers the file system of an open entry.
    func covers(_ descriptor: Int32) -> Bool {
        guard let device = EntryStatus(descriptor: descriptor)?.stamp.device else { return false }
        return open.withLock { $0[device]?.isCovered } ?? false
    }

    /// Opens the file system of an open folder, if it is not open yet. Returns whether one syncfs(2) covers it.
    func enter(_ folder: Int32) -> Bool {
        guard let device = EntryStatus(descriptor: folder)?.stamp.device else { return false }
        if let volume = open.withLock({ $0[device] }) { return volume.isCovered }
        let own = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { return false }
        let volume = Volume(descriptor: OpenDescriptor(owning: own), isCovered: disk.covers(file_system_type(own)))
        return open.withLock { open in
            // Another thread may have been faster. Its descriptor is the older one.
            if open[device] == nil { open[device] = volume }
            return volume.isCovered
        }
    }

    /// Whether syncfs(2) waits for all files of such a file system, and reports the writes that failed before it.
    ///
    /// Linux reports them since 5.8. Network file systems, FUSE and overlayfs are not known to pass on all of them.
    @Sendable static func isCovered(type: Int) -> Bool {
        guard
            ProcessInfo.processInfo.isOperatingSystemAtLeast(
                OperatingSystemVersion(majorVersion: 5, minorVersion: 8, patchVersion: 0))
        else { return false }
        // statfs(2): ext2 to ext4, XFS, Btrfs, F2FS, tmpfs.
        return [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994].contains(type)
    }
}

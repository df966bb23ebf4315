internal import Glibc

/// A file system in memory of a few megabytes, for root; unmounted at the end of its life.
public final class SmallDisk {
    /// The folder.
    public let path: String

    /// Whether this process may mount one; found out by doing it.
    public static let isAvailable: Bool = {
        guard geteuid() == 0, let folder = try? TemporaryFolder() else { return false }
        return (try? SmallDisk(at: folder, megabytes: 1)) != nil
    }()

    /// Mounts it.
    public init(at folder: TemporaryFolder, megabytes: Int) throws {
        try folder.makeFolder("disk")
        path = folder["disk"]
        try mount(flags: 0, megabytes: megabytes)
    }

    /// Makes it larger.
    public func grow(megabytes: Int) throws {
        try mount(flags: UInt(MS_REMOUNT), megabytes: megabytes)
    }

    private func mount(flags: UInt, megabytes: Int) throws {
        let options = "size=\(megabytes)m"
        let result = unsafe options.withCString { unsafe Glibc.mount("tmpfs", path, "tmpfs", flags, $0) }
        guard result == 0 else { throw MountFailure(code: errno) }
    }

    deinit {
        unsafe umount2(path, Int32(MNT_DETACH))
    }

    struct MountFailure: Error {
        let code: Int32
    }
}

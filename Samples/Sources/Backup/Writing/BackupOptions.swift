internal import Foundation
internal import Glibc
internal import TreeScan

/// What a backup leaves out, and how it works.
public struct BackupOptions: Sendable {
    /// Patterns of fnmatch(3). One without a slash matches names at any place. One with a slash matches paths below the folder.
    public var excludes: [String] = []
    /// Whether folders on other devices than the root's are left out.
    public var oneFileSystem = false
    /// The name of the machine in the snapshot.
    public var host = Lease.host
    /// The number of files that are read at the same time, 1 or more.
    public var width = ProcessInfo.processInfo.activeProcessorCount
    /// The clock, in nanoseconds since 1970.
    public var now: @Sendable () -> Int64 = {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Makes options that leave out nothing.
    public init() {}

    func excludes(_ path: RelativePath) -> Bool { ExcludePatterns(patterns: excludes).contains(path) }
}

internal import Foundation
internal import SafeFiles

/// What a backup leaves out, and how it works.
public struct BackupOptions: Sendable {
    /// Patterns in the syntax of gitignore(5), for the whole folder.
    public var excludes: [String] = []
    /// Names of files whose patterns also leave out entries, in their folders and below; the strongest first. By default
    /// none: what nobody searches may have to be saved all the same.
    public var ignoreFiles: [String] = []
    /// Whether folders on other devices than the root's are left out.
    public var oneFileSystem = false
    /// The name of the machine in the snapshot.
    public var host = Lease.host
    /// Words of the person, for the snapshot.
    public var tags: [String] = []
    /// Whether nothing is written: the report only tells what would be.
    public var isDryRun = false
    /// The number of files that are read at the same time, 1 or more.
    public var width = ProcessInfo.processInfo.activeProcessorCount
    /// The clock, in nanoseconds since 1970.
    public var now: @Sendable () -> Int64 = { FileTime.now }

    /// Makes options that leave out nothing.
    public init() {}
}

internal import Foundation
internal import SafeFiles
public import TreeScan

/// How a sync works.
public struct SyncOptions: Sendable {
    /// The direction.
    public var mode = SyncMode.twoWay
    /// The way out of conflicts, in mode two-way.
    public var policy = ConflictPolicy.keepBoth
    /// The share of a side's entries that may be removed, in percent, 0 to 100.
    public var maximumDeletions = 50
    /// The folder of the archives; nil for the default.
    public var archive: String?
    /// The number of files that are copied at the same time, 1 or more.
    public var width = ProcessInfo.processInfo.activeProcessorCount
    /// The size in bytes from which a file is copied in parts, so that a later run goes on in its middle.
    public var largeFile: Int64 = 64 << 20
    /// The folder that gets what a removal or a new version takes; nil to remove it. Outside of both folders.
    public var versions: String?
    /// The entries that stay as they are on both sides.
    public var excludes = ExcludeRules.none
    /// The files that are copied before all others.
    public var wanted = WantedFiles()
    /// The clock, in nanoseconds since 1970.
    public var now: @Sendable () -> Int64 = { FileTime.now }
    /// Called with a folder in which another run works, once for each wait.
    public var waits: @Sendable (_ folder: String) -> Void = { _ in }
    /// Called at each step. For tests that end the process there.
    public var reached: @Sendable (SyncStep) -> Void = { _ in }

    /// The ways to the disk. For tests that count the waits for it.
    var disk = DiskAccess()
    /// The time after which a batch of files ends: what is written in it is lost if the run is ended.
    var longestBatch = Duration.seconds(2)

    /// Makes options: two ways, keeping both versions of a conflict.
    public init() {}

    /// The date in the names of conflicts, in UTC.
    var date: String { String(FileTime.text(now()).prefix { $0 != "T" }) }
}

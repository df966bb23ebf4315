internal import Foundation
public import TreeScan

/// What a restore writes, and how.
public struct RestoreOptions: Sendable {
    /// The entry to restore, with everything below it; the root for all.
    public var path: RelativePath = .root
    /// Whether files that are there, and are others, are replaced. Otherwise they are reported, and stay.
    public var replaces = false
    /// Whether nothing is written: the report only tells what would be. Files are compared by size and time.
    public var isDryRun = false
    /// The number of files that are written at the same time, 1 or more.
    public var width = ProcessInfo.processInfo.activeProcessorCount

    /// Makes options that restore all, and replace nothing.
    public init() {}
}

/// The result of a restore.
public struct RestoreReport: Sendable {
    /// The number of files, links and pipes that were written.
    public internal(set) var restored = 0
    /// The number of files that were there already, byte for byte.
    public internal(set) var present = 0
    /// The bytes of the files that were written.
    public internal(set) var bytes: Int64 = 0
    /// The entries that could not be restored, each with its reason.
    public internal(set) var problems: [String] = []
    /// The number of entries whose owner, mode, times, attributes or hard links could not all be set.
    public internal(set) var incomplete = 0
}

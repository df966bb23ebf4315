/// The counts of a pass.
public struct PassReport: Sendable, Hashable, Codable {
    /// Regular files that the scan saw.
    public internal(set) var scanned = 0
    /// Folders that the scan entered.
    public internal(set) var folders = 0
    /// Links, pipes, sockets, devices, and ignored or excluded entries.
    public internal(set) var leftOut = 0
    /// Files that were not known before.
    public internal(set) var added = 0
    /// Known files that had changed, or might have.
    public internal(set) var changed = 0
    /// Files that no longer exist.
    public internal(set) var removed = 0
    /// Files whose turn came: indexed, skipped or failed.
    public internal(set) var settled = 0
    /// Entries that could not be read.
    public internal(set) var unreadable = 0
    /// The first few of them, in words.
    public internal(set) var unreadableExamples: [String] = []
    /// Seconds from the first step to the last.
    public internal(set) var seconds = 0.0
    /// The longest step, in milliseconds.
    public internal(set) var longestStepMilliseconds = 0.0

    mutating func note(_ failure: String) {
        unreadable += 1
        if unreadableExamples.count < 10 { unreadableExamples.append(failure) }
    }
}

/// The files of a machine, as a host watches them for its items on file events. ``SystemFileEvents`` is one.
///
/// Threading: any thread.
public protocol FileEventSource: Sendable {
    /// Returns what a path names now. Symbolic links are followed. The call is quick.
    func kind(of path: String) -> WatchedFileKind

    /// Returns a number that another content would change: of a file, or of a folder and its entries.
    ///
    /// A host compares it where it cannot watch. `nil` if the path names nothing.
    func signature(of path: String) -> UInt64?

    /// Watches an existing folder and the files in it, but not its subfolders.
    ///
    /// - Parameters:
    ///   - path: the absolute path.
    ///   - changed: receives the changes, on any thread. It returns quickly.
    /// - Returns: the watch; it ends with ``FolderWatch/cancel()``.
    /// - Throws: an error whose description says what failed and what helps.
    func watch(
        folder path: String, changed: @escaping @Sendable (FolderChange) -> Void
    ) async throws -> any FolderWatch
}

/// A watch of a folder.
public protocol FolderWatch: Sendable {
    /// Ends the watch.
    func cancel()
}

/// What a path names.
public enum WatchedFileKind: Sendable, Hashable {
    /// Nothing.
    case missing
    /// A folder.
    case folder
    /// Anything else.
    case file
}

/// The changes in a folder since the last call.
public struct FolderChange: Sendable, Hashable {
    /// The names of the entries that came, went or changed. That of the folder itself, if it was moved or removed.
    public var names: Set<String>
    /// Whether more may have changed than ``names`` says, for example because events were lost.
    public var hasMore: Bool
    /// The message of a watch that is broken and gives no more changes; `nil` while it works.
    public var failure: String?

    /// Makes a change.
    public init(names: Set<String> = [], hasMore: Bool = false, failure: String? = nil) {
        self.names = names
        self.hasMore = hasMore
        self.failure = failure
    }

    /// Adds a later change.
    mutating func merge(_ later: FolderChange) {
        names.formUnion(later.names)
        hasMore = hasMore || later.hasMore
        failure = later.failure ?? failure
    }
}

public import QoSRuntime

/// Watches of many folders. One task at a time.
///
/// The kernel watches single folders, so each folder has a watch, up to a limit. Changes are hints: after one,
/// everything is looked at again. So a lost event, or an overflow, costs no more than the time until the next look.
public struct FolderWatches {
    private let queue: WorkQueue?
    private let limit: Int
    private let changed: @Sendable () -> Void
    private var sources: [String: WorkSource] = [:]

    /// Makes watches of no folder.
    ///
    /// - Parameters:
    ///   - queue: The queue of the events; nil to watch nothing.
    ///   - limit: The number of watched folders. Changes in others are found by the next look.
    ///   - changed: Called after a change, on any thread.
    public init(on queue: WorkQueue?, limit: Int = 2048, changed: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.limit = limit
        self.changed = changed
    }

    /// Watches these folders, by their absolute paths, and no others.
    public mutating func watch(_ folders: [String]) async {
        let wanted = Set(folders.prefix(limit))
        for (path, source) in sources where !wanted.contains(path) {
            source.cancel()
            sources[path] = nil
        }
        let changed = changed
        for path in wanted where sources[path] == nil {
            sources[path] = try? await queue?.makeFileSource(path) { _ in changed() }
        }
    }
}

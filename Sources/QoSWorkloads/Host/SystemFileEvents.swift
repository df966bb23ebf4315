internal import FoundationEssentials
public import QoSRuntime

/// The files of this machine, watched on the event loop of a scheduler (`inotify(7)`).
///
/// The kernel drops events when they come too fast, and does not always say so. An item that must miss nothing has a
/// second one beside it, with an interval.
public struct SystemFileEvents: FileEventSource {
    private let queue: WorkQueue

    /// Makes a source.
    ///
    /// - Parameter scheduler: its event loop watches.
    public init(_ scheduler: QoSScheduler) {
        queue = scheduler.makeQueue("workload-files", level: QoSLevel(WorkloadHost.controlClass))
    }

    /// Returns what a path names.
    public func kind(of path: String) -> WatchedFileKind {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return .missing }
        return isFolder ? .folder : .file
    }

    /// Returns a number of the path's size, time and identity; for a folder, also of those of its entries.
    ///
    /// - Complexity: O(n) calls of the system for n entries.
    public func signature(of path: String) -> UInt64? {
        var hasher = Hasher()
        guard add(path, to: &hasher) else { return nil }
        if let names = try? FileManager.default.contentsOfDirectory(atPath: path) {
            for name in names.sorted() {
                hasher.combine(name)
                _ = add("\(path)/\(name)", to: &hasher)
            }
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func add(_ path: String, to hasher: inout Hasher) -> Bool {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return false }
        hasher.combine(attributes[.systemFileNumber] as? UInt64)
        hasher.combine(attributes[.size] as? UInt64)
        hasher.combine((attributes[.modificationDate] as? Date)?.timeIntervalSince1970)
        return true
    }

    /// Watches a folder.
    public func watch(
        folder path: String, changed: @escaping @Sendable (FolderChange) -> Void
    ) async throws -> any FolderWatch {
        let source = try await queue.makeFileSource(path) { changes in
            changed(FolderChange(names: changes.names, hasMore: changes.hasMoreNames, failure: changes.failure))
        }
        return SystemFolderWatch(source: source)
    }
}

private struct SystemFolderWatch: FolderWatch {
    let source: WorkSource

    func cancel() { source.cancel() }
}

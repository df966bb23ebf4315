import QoSKernel
import QoSWorkloads

/// Files that a test makes and changes, with watches as the kernel has them: of a folder's own entries, bound to the
/// folder and not to its name.
final class SimulatedFiles: FileEventSource {
    struct NoSpace: Error, CustomStringConvertible {
        let description = "no watch is left"
    }

    private struct Entry {
        var isFolder: Bool
        var version = 0
        /// The number of the file, whatever its name.
        var number: Int
    }

    private struct Watch {
        var folder: String
        var number: Int
        var changed: @Sendable (FolderChange) -> Void
    }

    private struct State {
        var entries: [String: Entry] = ["/": Entry(isFolder: true, number: 0)]
        var watches: [Int: Watch] = [:]
        var last = 0
        var limit = Int.max
        var refused = 0
    }

    private let state = Lock(State())

    init(folders: [String] = []) {
        for folder in folders { makeFolder(folder) }
    }

    /// The folders with a watch.
    var watched: [String] { state.withLock { $0.watches.values.map(\.folder).sorted() } }
    /// The number of watches that were refused.
    var refused: Int { state.withLock { $0.refused } }

    /// Lets further watches fail beyond a number.
    func setLimit(_ limit: Int) { state.withLock { $0.limit = limit } }

    func makeFolder(_ path: String) { make(path, isFolder: true) }
    func makeFile(_ path: String) { make(path, isFolder: false) }

    private func make(_ path: String, isFolder: Bool) {
        tell(path) { state in
            state.last += 1
            state.entries[path] = Entry(isFolder: isFolder, number: state.last)
        }
    }

    func change(_ path: String) { tell(path) { $0.entries[path]?.version += 1 } }

    /// Removes a file or a folder with all that is in it.
    func remove(_ path: String) {
        let watches = state.withLock { state in
            state.watches.values.filter {
                ($0.folder == path || $0.folder.hasPrefix(path + "/"))
                    && state.entries[$0.folder]?.number == $0.number
            }
        }
        tell(path) { state in
            state.entries = state.entries.filter { $0.key != path && !$0.key.hasPrefix(path + "/") }
        }
        for watch in watches { watch.changed(FolderChange(names: [Self.name(of: watch.folder)])) }
    }

    /// Tells all watches that events were lost.
    func overflow() {
        for watch in state.withLock({ Array($0.watches.values) }) { watch.changed(FolderChange(hasMore: true)) }
    }

    private func tell(_ path: String, _ body: (inout State) -> Void) {
        let watches = state.withLock { state in
            body(&state)
            let parent = Self.parent(of: path)
            return state.watches.values.filter {
                $0.folder == parent && state.entries[parent]?.number == $0.number
            }
        }
        for watch in watches { watch.changed(FolderChange(names: [Self.name(of: path)])) }
    }

    func kind(of path: String) -> WatchedFileKind {
        state.withLock { state in state.entries[path].map { $0.isFolder ? .folder : .file } ?? .missing }
    }

    func signature(of path: String) -> UInt64? {
        state.withLock { state in
            guard state.entries[path] != nil else { return nil }
            let parts = state.entries.filter { $0.key == path || Self.parent(of: $0.key) == path }
            return parts.reduce(0) { $0 &+ UInt64(bitPattern: Int64($1.value.version * 31 + $1.value.number + 1)) }
        }
    }

    func watch(
        folder path: String, changed: @escaping @Sendable (FolderChange) -> Void
    ) async throws -> any FolderWatch {
        let number = try state.withLock { state in
            guard let entry = state.entries[path], entry.isFolder, state.watches.count < state.limit else {
                state.refused += 1
                throw NoSpace()
            }
            state.last += 1
            state.watches[state.last] = Watch(folder: path, number: entry.number, changed: changed)
            return state.last
        }
        return SimulatedWatch { [weak self] in
            let removed = self?.state.withLock { $0.watches.removeValue(forKey: number) }
            _ = removed
        }
    }

    private static func parent(of path: String) -> String {
        guard let end = path.lastIndex(of: "/"), end != path.startIndex else { return "/" }
        return String(path[..<end])
    }

    private static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "") }
}

private struct SimulatedWatch: FolderWatch {
    let end: @Sendable () -> Void
    func cancel() { end() }
}

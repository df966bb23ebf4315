#if SQLite
internal import QoSCore
internal import QoSKernel
internal import QoSRuntime
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Hints to look at the store: from this process directly, from others by a write to a file beside the database.
///
/// A process that waits has a read lock on the file. A writer asks the kernel whether another process has one, and only
/// then writes a byte. So a store with one process writes nothing, and an idle process sleeps.
///
/// Threading: any thread.
final class ChangeNotices: Sendable {
    private struct State {
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastWatcher = 0
        var isListening = false
        var isClosed = false
        /// The file, open for writing and locks; negative if it cannot be opened.
        var file: Int32
        /// Files that were removed. They stay open, because another thread may use the number of one.
        var removedFiles: [Int32] = []
        /// What the thread that listens reads from; negative without such a thread.
        var events: Int32 = -1
    }

    private let path: String
    private let state: Lock<State>

    init(besides path: String) {
        self.path = path + "-notice"
        state = Lock(State(file: StoreFile.openFile(self.path, O_RDWR | O_CREAT | O_CLOEXEC)))
    }

    deinit {
        for file in state.withLock({ $0.removedFiles + [$0.file] }) where file >= 0 { close(file) }
    }

    /// Goes on with the file that is at the path now. The store calls it after its own file was removed.
    func reopen() {
        state.withLock { state in
            guard !state.isClosed else { return }
            let new = StoreFile.openFile(path, O_RDWR | O_CREAT | O_CLOEXEC)
            guard new >= 0 else { return }
            state.removedFiles.append(state.file)
            state.file = new
            guard state.events >= 0 else { return }
            _ = unsafe inotify_add_watch(state.events, path, UInt32(IN_MODIFY))
            var lock = Self.lock(F_RDLCK)
            _ = unsafe fcntl(new, Self.setLock, &lock)
        }
    }

    /// Returns a stream of hints. The first one lets this process listen to others.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, begins) = state.withLock { state in
            state.lastWatcher += 1
            if state.isClosed { return (state.lastWatcher, false) }
            state.watchers[state.lastWatcher] = continuation
            defer { state.isListening = true }
            return (state.lastWatcher, !state.isListening)
        }
        continuation.onTermination = { [weak self] _ in
            let removed = self?.state.withLock { $0.watchers.removeValue(forKey: number) }
            _ = removed
        }
        if begins { listen() }
        return stream
    }

    /// Tells the watchers of this process, and those of others.
    func notify() {
        notifyHere()
        let file = state.withLock { $0.file }
        if isWatchedElsewhere(file) { touch(file) }
    }

    /// Ends all streams, and the thread that listens.
    func end() {
        let (watchers, files) = state.withLock { state in
            defer { state.watchers = [:] }
            state.isClosed = true
            return (Array(state.watchers.values), state.removedFiles + [state.file])
        }
        for watcher in watchers { watcher.finish() }
        // The thread listens to at least one of them.
        for file in files { touch(file) }
    }

    private func notifyHere() {
        for watcher in state.withLock({ Array($0.watchers.values) }) { watcher.yield() }
    }

    // MARK: Other processes

    /// `F_OFD_GETLK` and `F_OFD_SETLK` of fcntl(2), which Swift does not import: locks of an open file, not of a process.
    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37

    private func touch(_ file: Int32) {
        guard file >= 0 else { return }
        // The content means nothing. The write is the notice.
        unsafe withUnsafeBytes(of: UInt8(0)) { byte in _ = unsafe pwrite(file, byte.baseAddress, 1, 0) }
    }

    /// Whether another open file of a process has a read lock.
    private func isWatchedElsewhere(_ file: Int32) -> Bool {
        var lock = Self.lock(F_WRLCK)
        guard file >= 0, unsafe fcntl(file, Self.getLock, &lock) == 0 else { return false }
        return lock.l_type != Int16(F_UNLCK)
    }

    private static func lock(_ kind: Int32) -> flock {
        var lock = flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_len = 1
        return lock
    }

    /// Starts a thread that sleeps in the kernel until a process writes to the file.
    private func listen() {
        let file = state.withLock { $0.file }
        guard file >= 0 else { return }
        let events = inotify_init1(Int32(IN_CLOEXEC))
        guard events >= 0, unsafe inotify_add_watch(events, path, UInt32(IN_MODIFY)) >= 0 else {
            if events >= 0 { close(events) }
            return
        }
        var lock = Self.lock(F_RDLCK)
        _ = unsafe fcntl(file, Self.setLock, &lock)
        let thread = QoSThread(name: "qos-store-watch", level: .userInitiated) { [weak self] in
            defer { close(events) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(events, $0.baseAddress, $0.count) }
                guard count > 0 || errno == EINTR else { return }
                guard let self, !self.state.withLock({ $0.isClosed }) else { return }
                self.notifyHere()
            }
        }
        // Without a thread, hints of other processes come late: at the next look of a host.
        do {
            try thread.start()
            state.withLock { if !$0.isClosed { $0.events = events } }
        } catch {
            close(events)
        }
    }
}
#endif

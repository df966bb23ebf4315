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
/// then writes a byte. So a store with one process writes nothing.
///
/// A hint can get lost: someone removes the file, or the writer dies between its commit and the hint. So a process that
/// waits also looks once a minute whether the files of the database have changed. Without a watch of the system it
/// looks every second, and says so.
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
        /// What the thread that listens reads from; negative without a watch.
        var events: Int32 = -1
        var lateHints: LateHints?
    }

    /// The time between two looks without a watch of the system.
    private static let lookWithoutWatch = Duration.seconds(1)

    private let store: String
    private let path: String
    private let lookInterval: Duration
    private let makeWatch: @Sendable () -> Int32
    private let state: Lock<State>

    init(besides path: String, _ configuration: SQLiteStoreConfiguration) {
        store = path
        self.path = path + "-notice"
        lookInterval = configuration.lookInterval
        makeWatch = configuration.makeWatch ?? { inotify_init1(Int32(IN_CLOEXEC)) }
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

    /// The reason why hints of other processes come late. Known after the first call of ``changes()``.
    var lateHints: LateHints? { state.withLock { $0.lateHints } }

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

    /// Starts a thread that sleeps in the kernel until a process writes to the file, or until its next look.
    private func listen() {
        let file = state.withLock { $0.file }
        var events: Int32 = -1
        var problem = file < 0 ? "the file \(path) cannot be opened" : nil
        if problem == nil {
            events = makeWatch()
            if events < 0 {
                problem = "\(StoreFile.reason(errno)); raise fs.inotify.max_user_instances"
            } else if unsafe inotify_add_watch(events, path, UInt32(IN_MODIFY)) < 0 {
                problem = "\(StoreFile.reason(errno)); raise fs.inotify.max_user_watches"
                close(events)
                events = -1
            }
        }
        if events >= 0 {
            var lock = Self.lock(F_RDLCK)
            _ = unsafe fcntl(file, Self.setLock, &lock)
        }
        let interval = problem == nil ? lookInterval : min(lookInterval, Self.lookWithoutWatch)
        state.withLock { state in
            if !state.isClosed { state.events = events }
            state.lateHints = problem.map { LateHints(reason: $0, interval: interval) }
        }
        let (store, watch) = (store, events)
        // Here, and not on the thread: it may begin after a change that the caller waits for.
        let start = FileStates(of: store)
        let thread = QoSThread(name: "qos-store-watch", level: .userInitiated) { [weak self] in
            defer { if watch >= 0 { close(watch) } }
            var seen = start
            while true {
                let hasHint = Self.waits(for: watch, atMost: interval)
                guard let self, !self.state.withLock({ $0.isClosed }) else { return }
                let now = FileStates(of: store)
                if hasHint || now != seen { self.notifyHere() }
                seen = now
            }
        }
        do { try thread.start() } catch {
            if events >= 0 { close(events) }
            state.withLock { state in
                state.events = -1
                // No one looks. A host does, whenever it has another reason to.
                state.lateHints = LateHints(reason: "no thread can be started: \(error)", interval: .seconds(600))
            }
        }
    }

    /// Sleeps until there is an event, or for an interval. Takes all events.
    ///
    /// - Returns: whether there was one.
    private static func waits(for events: Int32, atMost interval: Duration) -> Bool {
        var descriptor = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(clamping: interval.schedulerNanoseconds / 1_000_000)
        // A negative descriptor has no events.
        guard unsafe poll(&descriptor, 1, max(1, milliseconds)) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        return unsafe buffer.withUnsafeMutableBytes { unsafe read(events, $0.baseAddress, $0.count) } > 0
    }
}

/// The files of a database, as far as a change shows without reading them.
private struct FileStates: Equatable {
    private struct State: Equatable {
        var size: Int64 = 0
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
    }

    private var states: [State]

    /// A commit writes to the log, and moves it to the database at times.
    init(of path: String) {
        states = ["", "-wal"].map { suffix in
            var status = stat()
            guard unsafe stat(path + suffix, &status) == 0 else { return State() }
            return State(
                size: Int64(status.st_size), seconds: Int64(status.st_mtim.tv_sec),
                nanoseconds: Int64(status.st_mtim.tv_nsec))
        }
    }
}
#endif

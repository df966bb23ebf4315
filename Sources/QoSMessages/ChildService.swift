import QoSCore
import QoSKernel
public import QoSRuntime

// A service in a child process: when there is one, as a value (`ChildBackOff`) and its driver.
//
//   idle ── request, no pause ──▶ starting ── hello ──▶ running ── process ends ──▶ idle
//                                    └───── no hello, process ends ─────────────────▶
//
// At most one process at a time: a session that has ended leads to a new process only when the old one has ended. Each
// end is counted before those that wait for it go on. So the next request sees the pause.

/// The pauses between the starts of a child that fails. Time is an argument, in monotonic nanoseconds.
struct ChildBackOff: Sendable, Hashable {
    /// The pause after the second failure in a row. It doubles with each further one.
    static let firstPause: UInt64 = 100_000_000
    static let longestPause: UInt64 = 30_000_000_000
    /// The life after which earlier failures are forgotten.
    static let healthyLife: UInt64 = 60_000_000_000

    /// The failures in a row.
    private(set) var failures = 0
    private var startTime: UInt64 = 0
    private var earliestStart: UInt64 = 0

    /// Notes that a child is started.
    mutating func begin(now: UInt64) { startTime = now }

    /// Notes that the child has ended, or could not be started.
    mutating func end(isFailure: Bool, now: UInt64) {
        if now - min(startTime, now) >= Self.healthyLife { failures = 0 }
        guard isFailure else {
            earliestStart = now
            return
        }
        failures += 1
        // The first one may be an accident.
        let pause = failures == 1 ? 0 : min(Self.firstPause << UInt64(min(failures - 2, 16)), Self.longestPause)
        earliestStart = now.addingSaturating(pause)
    }

    /// Returns the time until the next start; 0 if it may be now.
    func pause(now: UInt64) -> UInt64 { earliestStart - min(earliestStart, now) }
}

/// A service in a child process of its own, which starts at the first request.
///
/// ```swift
/// let thumbnails = ChildService("/usr/libexec/example-thumbnails")
/// let image = try await thumbnails.send(Thumbnail(path: path, side: 256), timeout: .seconds(2))
/// ```
///
/// The program makes a ``Service`` and calls ``Service/run(onListening:)``, which serves this process. No other process
/// can connect to it.
///
/// The child inherits nothing of the calling thread, and no descriptor but standard output and standard error. When it
/// dies, the requests in flight end with ``ServiceError/Reason/peerDied(pid:)``, and the next request starts a new one.
///
/// A child that fails again and again is not started for a while, and requests end at once with `serviceUnavailable`.
/// That lasts 100 ms after the second failure in a row, and twice as long after each further one, up to 30 s. A life of
/// a minute ends the row.
///
/// When the last reference to the child and its sessions is gone, or this process ends, the child ends, too.
///
/// Threading: any thread or task.
public final class ChildService: Sendable {
    private enum Phase: Sendable {
        case idle
        case starting(Task<Result<ServiceSession, ServiceError>, Never>)
        case running(ServiceProcess, ServiceSession)
    }

    private struct State {
        var phase = Phase.idle
        var backOff = ChildBackOff()
        /// The end of the last process, as the predicate of a sentence.
        var lastEnd = "ended"
        var starts = 0
    }

    private enum Step: Sendable {
        case use(ServiceSession)
        case awaitStart(Task<Result<ServiceSession, ServiceError>, Never>)
        case awaitEnd(ServiceProcess)
        case refuse(ServiceError)
    }

    /// The path of the program.
    public let executable: String

    private let arguments: [String]
    private let environment: [String: String]?
    private let settings: Connection.Settings
    private let now: @Sendable () -> UInt64
    /// Tasks are started under it. Lock order: this mutex, then that of a connection.
    private let state = QoSMutex(State(), name: "child")

    /// Describes a child. It starts with the first request, or with ``session()``.
    ///
    /// - Parameters:
    ///   - executable: The path of the program, which is not looked up in `PATH`.
    ///   - arguments: The arguments that follow the program's name.
    ///   - environment: The child's environment. `nil` for that of this process.
    ///   - handlers: Handlers of what the service sends to this side.
    ///   - limits: The most that this side takes: replies, and what the service sends.
    ///   - propagators: They carry the service context.
    ///   - scheduler: Runs `handlers`. `nil` is Swift's default executor.
    public convenience init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        handlers: ServiceHandlers = ServiceHandlers(), limits: ServiceLimits = ServiceLimits(),
        propagators: [ServicePropagator] = [], on scheduler: QoSScheduler? = QoSProcess.scheduler
    ) {
        self.init(
            executable, arguments, environment: environment,
            settings: Connection.Settings(
                handlers: handlers, limits: limits, propagators: propagators, scheduler: scheduler),
            now: { MonotonicClock.nanoseconds() })
    }

    /// - Parameter now: the clock of the pauses.
    init(
        _ executable: String, _ arguments: [String], environment: [String: String]? = nil,
        settings: Connection.Settings, now: @escaping @Sendable () -> UInt64
    ) {
        (self.executable, self.arguments, self.environment) = (executable, arguments, environment)
        (self.settings, self.now) = (settings, now)
    }

    /// The number of the process; `nil` if none serves.
    public var pid: Int32? {
        guard case .running(let process, _) = state.withLock({ $0.phase }) else { return nil }
        return process.pid
    }

    /// The number of starts, and how the last process ended. For tests.
    var history: (starts: Int, lastEnd: String) { state.withLock { ($0.starts, $0.lastEnd) } }

    // MARK: Requests

    /// Sends a request to the child and returns its reply. Starts the child if there is none.
    ///
    /// Otherwise as ``ServiceSession/send(_:timeout:)->_``. The timeout begins when the child has answered.
    ///
    /// - Throws: ``ServiceError``.
    public nonisolated(nonsending) func send<Request: ServiceRequest>(
        _ request: Request, timeout: Duration? = nil
    ) async throws(ServiceError) -> Request.Reply {
        let session = try await session()
        return try await session.send(request, timeout: timeout)
    }

    /// Sends a one-way message to the child. Starts the child if there is none.
    ///
    /// Otherwise as ``ServiceSession/send(_:timeout:)->()``. The timeout begins when the child has answered.
    ///
    /// - Throws: ``ServiceError``.
    public nonisolated(nonsending) func send<Message: ServiceMessage>(
        _ message: Message, timeout: Duration? = nil
    ) async throws(ServiceError) {
        let session = try await session()
        try await session.send(message, timeout: timeout)
    }

    /// Returns the session to the child. Starts the child if there is none.
    ///
    /// All callers share the session. It lasts as long as the process. After that, this method returns another one. A
    /// start takes 5 s at most, and a cancellation does not shorten it. Callers wait for it together, and raise it.
    ///
    /// - Throws: ``ServiceError`` with `serviceUnavailable` if the program cannot be started, does not call
    ///   ``Service/run(onListening:)``, or has failed too often just before; or with `incompatible`.
    public nonisolated(nonsending) func session() async throws(ServiceError) -> ServiceSession {
        while true {
            switch nextStep() {
            case .use(let session): return session
            case .awaitStart(let start): return try await start.value.get()
            case .awaitEnd(let process):
                process.stop(grace: nil)
                await process.waitUntilEnded()
                forget(process)
            case .refuse(let error): throw error
            }
        }
    }

    private func nextStep() -> Step {
        let now = now()
        return state.withLock { state in
            switch state.phase {
            case .running(let process, let session): return session.hasEnded ? .awaitEnd(process) : .use(session)
            case .starting(let start): return .awaitStart(start)
            case .idle:
                let pause = state.backOff.pause(now: now)
                guard pause == 0 else { return .refuse(refusal(state.backOff.failures, state.lastEnd, pause)) }
                state.backOff.begin(now: now)
                state.starts += 1
                // Detached: it belongs to all who wait for it.
                let start = Task.detached { await self.start() }
                state.phase = .starting(start)
                return .awaitStart(start)
            }
        }
    }

    private func refusal(_ failures: Int, _ lastEnd: String, _ pause: UInt64) -> ServiceError {
        let milliseconds = (pause + 999_999) / 1_000_000
        return ServiceError(
            .serviceUnavailable(
                "'\(executable)' has failed \(failures) times in a row, and last it \(lastEnd): look at its messages on "
                    + "standard error; a request starts it again in \(milliseconds) ms at the earliest"),
            mayHaveBegun: false)
    }

    // MARK: Begin and end

    private func start() async -> Result<ServiceSession, ServiceError> {
        let process: ServiceProcess
        let socket: Int32
        let loop: MessageLoop
        do throws(ServiceError) {
            guard let shared = MessageLoop.shared else {
                throw ServiceError(.serviceUnavailable("the system has no thread for the loop"), mayHaveBegun: false)
            }
            loop = shared
            (process, socket) = try await ServiceProcess.start(
                executable, arguments, environment: environment, on: loop)
        } catch {
            let now = now()
            state.withLock { state in
                state.backOff.end(isFailure: true, now: now)
                (state.phase, state.lastEnd) = (.idle, "could not be started")
            }
            return .failure(error)
        }
        // By the kernel's word, this process is at both ends of the socket.
        let own = ServiceSocket.ownPeer
        let connection = Connection(
            peer: ServicePeer(pid: process.pid, user: own.user, group: own.group), settings: settings)
        let session = ServiceSession(owning: connection)
        let transport = SocketTransport.start(socket, connection, on: loop, to: process) { process.stop(grace: nil) }
        let pid = process.pid
        process.watch { [weak self] end, wasStopped in
            transport.processHasEnded()
            self?.ended(pid, end, wasStopped: wasStopped)
        }
        do throws(ServiceError) {
            try await connection.waitUntilReady()
        } catch {
            process.stop(grace: 0)
            await process.waitUntilEnded()
            state.withLock { $0.phase = .idle }
            guard case .serviceUnavailable(let text) = error.reason else { return .failure(error) }
            let advice = "does it call Service.run()? Look at its messages on standard error"
            return .failure(
                ServiceError(
                    .serviceUnavailable("'\(executable)' does not serve (\(text)): \(advice)"), mayHaveBegun: false))
        }
        state.withLock { $0.phase = .running(process, session) }
        return .success(session)
    }

    /// Counts the end of a process. The loop's thread.
    private func ended(_ pid: Int32, _ end: ServiceProcess.End, wasStopped: Bool) {
        let now = now()
        // Released under no lock: the last reference to a session closes its connection.
        let old = state.withLock { state -> Phase in
            let phase = state.phase
            var isOrderly = false
            if case .running(let process, _) = phase, process.pid == pid {
                isOrderly = wasStopped || end == .exited(0)
                state.phase = .idle
            }
            state.backOff.end(isFailure: !isOrderly, now: now)
            state.lastEnd = "\(end)"
            return phase
        }
        withExtendedLifetime(old) {}
    }

    /// Gives up a process that has ended. It may have done so before its start was over.
    private func forget(_ process: ServiceProcess) {
        let old = state.withLock { state -> Phase in
            let phase = state.phase
            if case .running(let current, _) = phase, current === process { state.phase = .idle }
            return phase
        }
        withExtendedLifetime(old) {}
    }

    /// Ends the child. Returns when its process is gone.
    ///
    /// Requests in flight end with `connectionLost`. The child gets SIGTERM, and after the grace SIGKILL. Without a
    /// child there is no effect. A later request starts a new one, without a pause.
    ///
    /// - Parameter grace: The time that the child has to end.
    public func terminate(grace: Duration = .seconds(5)) async {
        while true {
            switch state.withLock({ $0.phase }) {
            case .idle: return
            case .starting(let start): _ = await start.value
            case .running(let process, let session):
                // First: the end of the session stops the process with the usual grace.
                process.stop(grace: grace.clampedNanoseconds)
                session.close()
                await process.waitUntilEnded()
                forget(process)
                return
            }
        }
    }
}

import Glibc
import QoSEventLoop
import QoSKernel
import QoSRuntime

// A process that serves its parent over a socket that it was born with. `ChildService` decides when there is one.
//
// The begin. A thread of its own calls posix_spawn. So the child inherits nothing of a worker, and no other work waits
// for the program's file (`Docs/LibraryThreads.md`).
//
// The end. A descriptor of the process (pidfd) is readable once it has ended. The loop's thread then takes its status,
// so no zombie is left. Signals are sent on that thread, too: until the status is taken, no other process has the
// number.
//
// No PR_SET_PDEATHSIG: the signal comes when the thread that has made the child ends, not its process. Instead, the
// child ends with its socket.

/// A process that this one has started, until its end was seen.
final class ServiceProcess: Sendable {
    /// The variable that names the passed socket: `NUMBER:INODE`. The inode tells a process that inherits the variable
    /// and not the socket that it is not meant.
    static let variable = "QOS_SERVICE_FD"

    /// The time between SIGTERM and SIGKILL, in nanoseconds.
    static let usualGrace: UInt64 = 5_000_000_000

    enum End: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
        /// Other code of this process has taken the status.
        case unknown
    }

    private struct State {
        var watch: DescriptorWatch?
        /// Called once, before those that wait for the end are resumed.
        var onEnd: (@Sendable (End, _ wasStopped: Bool) -> Void)?
        var isStopped = false
        var end: End?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    let pid: Int32
    /// The descriptor of the process; valid as long as this object.
    let descriptor: Int32
    private let loop: MessageLoop
    private let state = Lock(State())

    private init(_ pid: Int32, _ descriptor: Int32, _ loop: MessageLoop) {
        (self.pid, self.descriptor, self.loop) = (pid, descriptor, loop)
    }

    deinit { Glibc.close(descriptor) }

    // MARK: The begin

    /// Starts a program with one end of a socket.
    ///
    /// - Parameter environment: `nil` for that of this process.
    /// - Returns: the process, which ``watch(_:)`` has to follow, and the other end.
    static func start(
        _ path: String, _ arguments: [String], environment: [String: String]?, on loop: MessageLoop
    ) async throws(ServiceError) -> (process: ServiceProcess, socket: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw unavailable("\(KernelError(.makePipe, code: errno, subject: path))")
        }
        let (socket, passed) = (ends[0], ends[1])
        defer { Glibc.close(passed) }
        var status = stat()
        _ = unsafe fstat(passed, &status)
        let variables = environment.map { $0.map { "\($0.key)=\($0.value)" } } ?? ChildProgram.ownEnvironment
        let program = ChildProgram(
            path, arguments,
            environment: variables.filter { !$0.hasPrefix("\(variable)=") }
                + ["\(variable)=\(ChildProgram.passedNumber):\(status.st_ino)"])
        let pid: Int32
        do {
            let thread = QoSThread(name: "qos-child", level: .userInitiated) { try program.start(passing: passed) }
            try thread.start()
            pid = try await thread.value
        } catch {
            Glibc.close(socket)
            throw unavailable("\(error)")
        }
        guard let descriptor = descriptor(of: pid) else {
            Glibc.close(socket)
            kill(pid, SIGKILL)
            _ = waitpid(pid, nil, 0)
            throw unavailable("no descriptor of process \(pid): the process needs one more, or Linux 5.3 (pidfd_open)")
        }
        return (ServiceProcess(pid, descriptor, loop), socket)
    }

    private static func descriptor(of pid: Int32) -> Int32? {
        guard let process = ProcessDescriptor(pid) else { return nil }
        let copy = fcntl(process.rawValue, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? copy : nil
    }

    private static func unavailable(_ text: String) -> ServiceError {
        ServiceError(.serviceUnavailable(text), mayHaveBegun: false)
    }

    // MARK: The end

    /// Follows the process to its end. Once, before all calls of ``stop(grace:)``.
    ///
    /// - Parameter onEnd: called on the loop's thread, once.
    func watch(_ onEnd: @escaping @Sendable (End, _ wasStopped: Bool) -> Void) {
        state.withLock { $0.onEnd = onEnd }
        loop.submit {
            do {
                let watch = try self.loop.loop.watchDescriptor(self.descriptor, for: .readable) { _ in self.reap() }
                self.state.withLock { $0.watch = watch }
            } catch {
                // Nobody would see its end.
                kill(self.pid, SIGKILL)
                self.reap(waits: true)
            }
        }
    }

    /// Ends the process: SIGTERM, and SIGKILL after the grace. Any thread, any number of times.
    ///
    /// - Parameter grace: nanoseconds; the shortest of several calls counts. `nil`: as before, or ``usualGrace``.
    func stop(grace: UInt64?) {
        loop.submit {
            if self.reap() { return }
            let isFirst = self.state.withLock { state in
                defer { state.isStopped = true }
                return !state.isStopped
            }
            if isFirst { kill(self.pid, SIGTERM) }
            guard isFirst || grace != nil else { return }
            let time = MonotonicClock.nanoseconds().addingSaturating(grace ?? Self.usualGrace)
            self.loop.setAlarm(for: self, at: time) { process in
                if !process.reap() { kill(process.pid, SIGKILL) }
            }
        }
    }

    /// Suspends until the process has ended and its status was taken.
    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if state.end == nil { state.waiters.append(continuation) }
                return state.end != nil
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Takes the status if the process has ended. The loop's thread.
    ///
    /// - Returns: whether it has.
    @discardableResult
    private func reap(waits: Bool = false) -> Bool {
        guard state.withLock({ $0.end == nil }) else { return true }
        var status: Int32 = 0
        var result: Int32
        repeat { result = unsafe waitpid(pid, &status, waits ? 0 : WNOHANG) } while result < 0 && errno == EINTR
        if result == 0 { return false }
        let signal = status & 0x7f
        let end: End = result < 0 ? .unknown : signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
        let (watch, onEnd, wasStopped) = state.withLock { state in
            (state.watch.take(), state.onEnd.take(), state.isStopped)
        }
        watch?.close()
        loop.setAlarm(for: self, at: nil) { _ in }
        onEnd?(end, wasStopped)
        let waiters = state.withLock { state in
            state.end = end
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
        return true
    }
}

extension ServiceProcess.End: CustomStringConvertible {
    var description: String {
        switch self {
        case .exited(let status): "ended with status \(status)"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .unknown: "ended"
        }
    }
}

internal import Foundation
internal import Glibc
internal import Synchronization

/// One run of a converter.
final class ConversionProcess: Sendable {
    /// The end of a run.
    enum Ending: Equatable, Sendable {
        case text([UInt8], isTruncated: Bool)
        /// The file cannot be converted; with the reason.
        case failed(String)
        /// The run was cancelled.
        case cancelled
        /// The process could not be started; with the error number.
        case notStarted(Int32)
    }

    /// The reason for a kill.
    private enum Excess: Equatable {
        case output
        case time
    }

    private struct State {
        var process: pid_t?
        var isCancelled = false
    }

    private let converter: DocumentConverter
    private let limit: Int
    private let state = Mutex(State())

    /// Makes a run whose output may have `limit` bytes. The rest is left out.
    init(_ converter: DocumentConverter, limit: Int) {
        self.converter = converter
        self.limit = limit
    }

    /// Converts the file that is open under a descriptor, and suspends the task meanwhile. A thread of its own waits.
    ///
    /// A cancellation of the task kills the process at once.
    func runInTask(_ input: Int32) async -> Ending {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: self.run(input)) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Kills the process, or does not let it start. Any thread.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let process = state.process { kill(-process, SIGKILL) }
        }
    }

    /// Converts the file that is open under a descriptor. Blocks the thread until the process has ended.
    func run(_ input: Int32) -> Ending {
        var sockets: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &sockets) == 0 else { return .notStarted(errno) }
        defer { close(sockets[0]) }
        let deadline = ContinuousClock.now + converter.time
        let (process, code) = start(input, sockets[1])
        close(sockets[1])
        guard code == 0 else { return code == ECANCELED ? .cancelled : .notStarted(code) }
        var output: [UInt8] = []
        var excess = read(sockets[0], into: &output, until: deadline)
        if excess == nil, !hasEnded(process, until: deadline) { excess = .time }
        kill(-process, SIGKILL)
        let status = reap(process)
        if state.withLock({ $0.isCancelled }) { return .cancelled }
        return switch excess {
        case .output: .text(Array(output.prefix(limit)), isTruncated: true)
        case .time: .failed("\(converter.program) took longer than \(converter.time.components.seconds) s")
        case nil: ending(status, output)
        }
    }

    private func ending(_ status: Int32, _ output: [UInt8]) -> Ending {
        let signal = status & 0x7F
        if signal == SIGXCPU || signal == SIGKILL {
            let seconds = converter.processorSeconds
            return .failed("\(converter.program) was killed: it used \(seconds) s of processor time, or all memory")
        }
        if signal != 0 { return .failed("\(converter.program) was ended by signal \(signal)") }
        let code = status >> 8 & 0xFF
        guard code == 0 else {
            return .failed("\(converter.program) ended with status \(code): the file is damaged, locked or too large")
        }
        return .text(output, isTruncated: false)
    }

    /// Starts the process in a group of its own, unless the run is cancelled. Returns its number and an error number.
    private func start(_ input: Int32, _ output: Int32) -> (pid_t, Int32) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let command = converter.command
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        var environment = unsafe [strdup("PATH=\(DocumentConverter.folders)"), strdup("LC_ALL=C.UTF-8"), nil]
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
            for index in unsafe environment.indices { unsafe free(environment[index]) }
        }
        return state.withLock { state in
            guard !state.isCancelled else { return (0, ECANCELED) }
            var process: pid_t = 0
            let code = unsafe posix_spawnp(&process, command[0], &actions, &attributes, &arguments, &environment)
            if code == 0 { state.process = process }
            return (process, code)
        }
    }

    /// Reads until the end, a limit or the deadline. Returns the limit that was exceeded.
    private func read(_ socket: Int32, into output: inout [UInt8], until deadline: ContinuousClock.Instant) -> Excess? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while output.count <= limit {
            let left = Int32(max(0, min((deadline - .now) / .milliseconds(1), 1e9)))
            var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = unsafe Glibc.poll(&poll, 1, left)
            if ready == 0 { return .time }
            guard ready > 0 else { continue }
            let count = unsafe Glibc.read(socket, &buffer, buffer.count)
            if count == 0 { return nil }
            if count > 0 { output += buffer[..<count] } else if errno != EINTR { return nil }
        }
        return .output
    }

    /// Waits until the process has ended, and leaves its status. A process that closed its output is about to end.
    private func hasEnded(_ process: pid_t, until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            var info = unsafe siginfo_t()
            let result = unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
            if result == 0, unsafe info._sifields._sigchld.si_pid == process { return true }
            if result < 0, errno != EINTR { return true }
            guard ContinuousClock.now < deadline else { return false }
            usleep(2000)
        }
    }

    /// Takes the status of the process. From then on its number may be another process's.
    private func reap(_ process: pid_t) -> Int32 {
        // Waits outside of the lock. The number stays until the status is taken.
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return state.withLock { state in
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0 {
                guard errno == EINTR else { return 0 }
            }
            state.process = nil
            return status
        }
    }
}

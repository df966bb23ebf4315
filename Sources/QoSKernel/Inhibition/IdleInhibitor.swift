internal import Glibc

/// Keeps the machine from going to sleep while at least one caller asks for it.
///
/// All callers share one program (``InhibitorProgram``), which a thread of its own starts and awaits. The program ends
/// with the last request, and with this process. A machine that has no such program goes on without it.
///
/// Threading: any thread. No call waits for the program.
package final class IdleInhibitor: Sendable {
    /// The state of the inhibitor.
    package enum State: Sendable, Hashable {
        /// No caller asks for it.
        case notRequested
        /// The program starts, or runs.
        case requested
        /// The machine may go to sleep although a caller asks for it not to; with the problem and its remedy.
        case unavailable(String)
    }

    private struct Requests: Sendable {
        var count = 0
        /// The number of the present hold; a thread of an earlier one changes nothing.
        var hold: UInt64 = 0
        /// The end of the pipe that keeps the program alive; -1 without one.
        var pipe: Int32 = -1
        var state = State.notRequested
    }

    private let requests = Lock(Requests())
    private let find: @Sendable () -> InhibitorProgram?

    /// The inhibitor of the process.
    package static let shared = IdleInhibitor { InhibitorProgram.find() }

    /// Makes an inhibitor.
    ///
    /// - Parameter find: finds the program, at each first request.
    package init(_ find: @escaping @Sendable () -> InhibitorProgram?) {
        self.find = find
    }

    /// The present state.
    package var state: State { requests.withLock { $0.state } }

    /// Begins a request.
    ///
    /// - Parameters:
    ///   - reason: the reason for people. That of the first of several requests is shown.
    ///   - report: gets the problem if the machine cannot be kept awake; at once or later, on any thread.
    package func begin(_ reason: String, report: @escaping @Sendable (String) -> Void) {
        let hold = requests.withLock { requests -> UInt64? in
            requests.count += 1
            guard requests.count == 1 else { return nil }
            requests.hold += 1
            requests.state = .requested
            return requests.hold
        }
        guard let hold else { return }
        guard let program = find() else {
            return failed(
                hold, "systemd-inhibit is not installed: install systemd, or keep the machine awake by its settings",
                report)
        }
        start(program, hold, reason, report)
    }

    /// Ends a request. The last one ends the program.
    package func end() {
        let pipe = requests.withLock { requests -> Int32 in
            requests.count -= 1
            guard requests.count == 0 else { return -1 }
            requests.hold += 1
            requests.state = .notRequested
            defer { requests.pipe = -1 }
            return requests.pipe
        }
        if pipe >= 0 { close(pipe) }
    }

    private func start(
        _ program: InhibitorProgram, _ hold: UInt64, _ reason: String, _ report: @escaping @Sendable (String) -> Void
    ) {
        var ends: [Int32] = [-1, -1]
        // Other programs that the process starts must not keep the pipe open.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            return failed(hold, "\(KernelError(.makePipe, code: errno, subject: "the inhibitor"))", report)
        }
        let (input, output) = (ends[0], ends[1])
        let isWanted = requests.withLock { requests in
            guard requests.hold == hold else { return false }
            requests.pipe = output
            return true
        }
        guard isWanted else {
            close(input)
            close(output)
            return
        }
        do throws(KernelError) {
            let thread = try Thread(name: "qos-inhibit") { [self] in
                defer { close(input) }
                run(program, input, hold, reason, report)
            }
            thread.detach()
        } catch {
            close(input)
            failed(hold, "\(error)", report)
        }
    }

    /// The life of the program, on a thread of its own.
    private func run(
        _ program: InhibitorProgram, _ input: Int32, _ hold: UInt64, _ reason: String,
        _ report: @escaping @Sendable (String) -> Void
    ) {
        do throws(KernelError) {
            let process = try program.start(input: input, reason: reason)
            let status = InhibitorProgram.waitForEnd(of: process)
            let ending = status.map { "ended with status \($0)" } ?? "was ended"
            failed(hold, "\(program.path) \(ending): run '\(program.path) --what=idle true' to see why", report)
        } catch {
            failed(hold, "\(error)", report)
        }
    }

    /// Notes that the machine is not kept awake, unless the request has ended.
    private func failed(_ hold: UInt64, _ problem: String, _ report: (String) -> Void) {
        let isCurrent = requests.withLock { requests in
            guard requests.hold == hold else { return false }
            requests.state = .unavailable(problem)
            return true
        }
        if isCurrent { report(problem) }
    }
}

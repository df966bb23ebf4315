import Glibc
import QoSCore
import QoSEventLoop
import QoSKernel

/// One run of ``QoSProcess/run(configuration:_:)``: signals, the body's task, the main loop, the end.
final class ProcessRun: Sendable {
    private let executors: ProcessExecutors
    private let configuration: QoSProcess.Configuration
    private let end = Lock(ProcessEnd())
    private let body = Lock(Body())
    private let watches = Lock<[SignalWatch]>([])

    /// The body's task, and whether to cancel it. A signal may come before the task is known here, even after the body
    /// has begun and has told others so.
    private struct Body {
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    init(executors: ProcessExecutors, configuration: QoSProcess.Configuration) {
        self.executors = executors
        self.configuration = configuration
    }

    /// Runs the body on the pools and the main loop on the calling thread. Ends the process.
    func run(_ body: @escaping @Sendable () async throws -> Void) throws -> Never {
        MainThread.choose(isInteractive: configuration.kind == .interactive)
        // A service's main thread keeps the scheduling with which the process was started: `default` is measured by it.
        // Libraries' threads would also inherit a nice value that may be impossible to give back.
        if configuration.kind == .interactive {
            LibraryThreads.setRule(.own)
            executors.scheduler.core.applyEffects(of: configuration.kind.mainLevel.qosClass, threadName: "main")
        }
        try watchSignals()
        if configuration.servesDispatchMain { try executors.main.serveDispatch() }
        let bodyTask = Task.detached(priority: configuration.qosClass.taskPriority) {
            let outcome: Result<Void, any Error>
            self.end.withLock { $0.bodyBegan() }
            do {
                outcome = .success(try await body())
            } catch {
                outcome = .failure(error)
            }
            let isHeld = !self.executors.scheduler.core.shutdownHolds.isEmpty
            self.follow(self.end.withLock { $0.bodyEnded(outcome, isHeld: isHeld) })
        }
        let isCancelled = self.body.withLock { state in
            state.task = bodyTask
            return state.isCancelled
        }
        if isCancelled { bodyTask.cancel() }
        try executors.main.runLoop()
        // A call of the library stopped the main executor: the program is over, and went well.
        exit(0)
    }

    /// Watches the signals on the pools' loop, so that they come through when the main actor is busy.
    ///
    /// A signal that the process ignores by now stays ignored: the program's starter, or the program, wants so.
    private func watchSignals() throws {
        let loop = executors.scheduler.core.loop
        let signals = configuration.endingSignals.filter { !ProcessSignals.isIgnored($0) }
        try loop.submit { [self] in
            for number in signals {
                do {
                    let watch = try loop.watchSignal(number) { [self] in
                        follow(end.withLock { $0.received(signal: number) })
                    }
                    watches.withLock { $0.append(watch) }
                    // Some parents start a process with every signal blocked. Then no thread of ours would get it.
                    ProcessSignals.unblock(number)
                } catch {
                    follow(.exit(status: 1, message: "signal \(number) cannot be watched: \(error)"))
                }
            }
        }
    }

    private func follow(_ action: ProcessEnd.Action) {
        switch action {
        case .nothing:
            break
        case .cancelBody:
            executors.scheduler.core.endClamp()
            let task = body.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
            beginGrace()
        case .awaitHeld:
            beginGrace()
            let core = executors.scheduler.core
            do {
                try core.loop.submit { core.beginEnding() }
            } catch {
                ProcessEnd.report("what blocks the end of the program cannot be raised: \(error)")
            }
            core.shutdownHolds.whenEmpty { [self] in follow(end.withLock { $0.heldEnded() }) }
        case .exit(let status, let message):
            if let message { ProcessEnd.report(message) }
            exit(status)
        }
    }

    private func beginGrace() {
        let (now, number) = (MonotonicClock.nanoseconds(), end.withLock { $0.graceNumber })
        executors.scheduler.core.addTimer(
            TimerWindow(deadline: now.addingSaturating(configuration.signalGrace.clampedNanoseconds), tolerance: 0),
            .body { [self] in follow(end.withLock { $0.graceEnded(number: number) }) })
    }
}

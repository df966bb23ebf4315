import Dispatch
import Glibc
import QoSCore
import QoSKernel
import QoSRuntime
import Synchronization

/// The hits of a profiler's signal on the thread that computes.
private enum ProfilerHits {
    static let computing = Atomic<Int32>(0)
    static let own = Atomic<Int>(0)
}

extension Scenario {
    /// Prints on a worker until nobody reads any more.
    func printForever() {
        while true { print("line") }
    }

    /// Computes on a worker under a profiler, until the profiler has hit the thread often enough, or three seconds of
    /// processor time are over.
    func beProfiled() async {
        signal(SIGPROF) { _ in
            let isOwn = ThreadID.current.rawValue == ProfilerHits.computing.load(ordering: .relaxed)
            if isOwn { ProfilerHits.own.wrappingAdd(1, ordering: .relaxed) }
        }
        ProfilerHits.computing.store(ThreadID.current.rawValue, ordering: .relaxed)
        let interval = timeval(tv_sec: 0, tv_usec: 1000)
        var timer = itimerval(it_interval: interval, it_value: interval)
        unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
        let begin = ThreadClock.nanoseconds(of: .current) ?? 0
        while ProfilerHits.own.load(ordering: .relaxed) < 20 {
            guard let now = ThreadClock.nanoseconds(of: .current), now - begin < 3_000_000_000 else { break }
        }
        Driver.say("own", ProfilerHits.own.load(ordering: .relaxed))
        timer = itimerval()
        unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    }

    /// Traps on one worker, while one of each other class is parked.
    func crash() async {
        for qosClass in QoSClass.allCases where qosClass != .default {
            await withCheckedContinuation { continuation in
                Task.detached(priority: qosClass.taskPriority) { continuation.resume() }
            }
        }
        fatalError("on purpose")
    }

    /// Tells how the process treats the signals that its starter has set to be ignored.
    func tellIgnored() async {
        Driver.say("int", ProcessSignals.isIgnored(SIGINT) ? "ignored" : "handled")
        Driver.say("term", ProcessSignals.isIgnored(SIGTERM) ? "ignored" : "handled")
        kill(getpid(), SIGINT)
        await Task.yield()
        Driver.say("cancelled", Task.isCancelled)
    }

    /// Says that it is ready, and waits for signals.
    func signals() async throws {
        switch self {
        case .cleansUpAfterSignal:
            Driver.say("ready", "yes")
            try? await Task.sleep(for: .seconds(3_600))
            Driver.say("cancelled", Task.isCancelled)
        case .signalsItselfAtOnce:
            kill(getpid(), SIGTERM)
            try await Task.sleep(for: .seconds(3_600))
        case .ignoresSignals:
            Driver.say("ready", "yes")
            await withTaskCancellationHandler {
                unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            } onCancel: {
                Driver.say("cancelled", "yes")
            }
        case .clampedUntilSignal:
            guard let scheduler = QoSProcess.scheduler else { return }
            let clamp = SchedulerClamp(scheduler)
            _ = clamp.set(true)
            scheduler.setWidthLimit(0, for: .background)
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            Driver.say("ready", "yes")
            await withTaskCancellationHandler {
                // In a task that is not cancelled, as a group of services ends.
                await Task { for await _ in asked {} }.value
            } onCancel: {
                Task { ask.finish() }
            }
            Driver.say("clamped", clamp.isOn)
        case .signalWhileMainActorIsBusy:
            let released = DispatchSemaphore(value: 0)
            await withTaskCancellationHandler {
                await MainActor.run {
                    Driver.say("ready", "yes")
                    released.wait()
                }
            } onCancel: {
                released.signal()
            }
            try Task.checkCancellation()
        default:
            Driver.say("ready", "yes")
            try await Task.sleep(for: .seconds(3_600))
        }
    }
}

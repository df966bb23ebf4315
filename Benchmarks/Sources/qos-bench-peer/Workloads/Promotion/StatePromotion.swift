import BenchCore
import CBenchShims
import QoSCore
import QoSRuntime
import Synchronization

/// B5, every state: a task of background stands in the queue behind unrelated background jobs when a task of
/// userInitiated awaits it, or a thread raises it. From then until it goes on.
struct StatePromotion: Workload {
    let state: QueuedState
    /// Whether the task is raised from outside instead of being awaited.
    let isRaised: Bool
    /// Whether the class to which the task is raised has run nothing before. There is only one sample then.
    let isFirstUse: Bool

    /// The time for work to reach the queue of a busy worker: the loop's look brings it there. Nanoseconds.
    private static let settling: UInt64 = 20_000_000

    init(state: QueuedState, way: String) {
        self.state = state
        isRaised = way != "awaited"
        isFirstUse = way == "raised-first"
    }

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        if isRaised, stage.scheduler == nil { throw NoSchedulerError() }
        let latencies = Latencies(capacity: 1000)
        let deadline = bench_now() + UInt64(seconds * 1e9)
        SerialTargetActor.scheduler.withLock { $0 = stage.scheduler }
        var void = 0
        if !isFirstUse { await stage.detached(.userInitiated) {}.value }
        repeat {
            // A task that is not to begin comes behind the unrelated jobs at once, any other has to come as far as its
            // state first.
            let early = state == .notBegun ? Backlog(submittedOn: stage) : nil
            let subject = QueuedTask(state, on: stage)
            while !subject.isReady { await stage.outside.sleep(seconds: 0.0005) }
            let backlog = early ?? Backlog(submittedOn: stage)
            let extra = subject.occupyActor(on: stage)
            // A job of the held worker would else go before the unrelated ones, which come in from outside.
            await stage.outside.sleep(until: bench_now() + Self.settling)
            subject.enterQueue()
            await stage.outside.sleep(until: bench_now() + Self.settling)
            let (needed, ran) = await need(subject.task, on: stage)
            // Only a task that was still in the queue counts.
            if ran > needed { latencies.add(Double(ran) - Double(needed)) } else { void += 1 }
            await backlog.waitForEnd()
            await extra?.value
        } while !isFirstUse && bench_now() < deadline
        var figures = RawFigures(["void_samples": Double(void)])
        figures.addLatencies("start", latencies.values)
        return figures
    }

    /// Awaits the task at userInitiated or raises it: when, and when the task went on.
    private func need(_ task: Task<UInt64, Never>, on stage: Stage) async -> (UInt64, UInt64) {
        guard isRaised, let scheduler = stage.scheduler else {
            return await stage.detached(.userInitiated) {
                let start = bench_now()
                return (start, await task.value)
            }.value
        }
        let start = await withCheckedContinuation { continuation in
            stage.outside.perform {
                let start = bench_now()
                scheduler.raise(task, to: .userInitiated)
                continuation.resume(returning: start)
            }
        }
        // Not by this task, which is of a higher class too: an await raises as well.
        await stage.outside.sleep(seconds: 0.01)
        return (start, await task.value)
    }
}

/// A task of background that comes into the queue in a given state, when it is told to.
private struct QueuedTask {
    let state: QueuedState
    /// Gives the time at which the task went on.
    let task: Task<UInt64, Never>
    private let gate: Gate

    /// The signals between the harness and the task.
    private final class Gate: Sendable {
        let isReady = Flag()
        let mayEnter = Flag()
        let (stream, input) = AsyncStream.makeStream(of: Void.self)
        let signal = Signal()

        /// Keeps the worker until the unrelated jobs have been submitted.
        func hold() {
            isReady.set()
            while !mayEnter.isSet { bench_spin_hint() }
        }
    }

    init(_ state: QueuedState, on stage: Stage) {
        let gate = Gate()
        (self.state, self.gate) = (state, gate)
        if state == .notBegun { gate.isReady.set() }
        task = Self.makeTask(state, gate, on: stage)
    }

    /// Whether the task has come as far as it gets before it enters the queue.
    var isReady: Bool { gate.isReady.isSet }

    /// Submits unrelated background work to the actor that the task calls.
    func occupyActor(on stage: Stage) -> Task<Void, Never>? {
        switch state {
        case .callsDefaultActor: stage.detached(.background) { @DefaultTargetActor in }
        case .callsSerialActor: stage.detached(.background) { @SerialTargetActor in }
        default: nil
        }
    }

    /// Lets the task enter the queue behind what has been submitted.
    func enterQueue() {
        gate.mayEnter.set()
        gate.input.yield()
        gate.signal.send()
    }

    private static func makeTask(_ state: QueuedState, _ gate: Gate, on stage: Stage) -> Task<UInt64, Never> {
        switch state {
        case .notBegun: stage.detached(.background) { bench_now() }
        case .yielded: stage.detached(.background) { await Self.yieldHere(gate) }
        case .inDefaultActor: stage.detached(.background) { await Self.yieldInDefaultActor(gate) }
        case .inSerialActor: stage.detached(.background) { await Self.yieldInSerialActor(gate) }
        default: stage.detached(.background) { await Self.enter(state, gate) }
        }
    }

    @DefaultTargetActor
    private static func yieldInDefaultActor(_ gate: Gate) async -> UInt64 { await yieldHere(gate) }

    @SerialTargetActor
    private static func yieldInSerialActor(_ gate: Gate) async -> UInt64 { await yieldHere(gate) }

    private nonisolated(nonsending) static func yieldHere(_ gate: Gate) async -> UInt64 {
        gate.hold()
        await Task.yield()
        return bench_now()
    }

    private static func enter(_ state: QueuedState, _ gate: Gate) async -> UInt64 {
        switch state {
        case .slept:
            // The unrelated jobs come while it sleeps.
            gate.isReady.set()
            try? await Task.sleep(for: .milliseconds(5), tolerance: .zero)
        case .continuation:
            gate.isReady.set()
            await gate.signal.wait()
        case .stream:
            gate.isReady.set()
            for await _ in gate.stream { break }
        case .groupChild:
            gate.hold()
            return await withTaskGroup(of: UInt64.self) { group in
                // Two: the one that came last may run as soon as its parent waits.
                for _ in 0..<2 { group.addTask { bench_now() } }
                return await group.reduce(0, max)
            }
        case .asyncLet:
            gate.hold()
            async let first = bench_now()
            async let second = bench_now()
            return await max(first, second)
        case .callsDefaultActor:
            gate.hold()
            return await DefaultTargetActor.time()
        case .callsSerialActor:
            gate.hold()
            return await SerialTargetActor.time()
        case .notBegun, .yielded, .inDefaultActor, .inSerialActor: break
        }
        return bench_now()
    }
}

import Dispatch
import Glibc
import QoSCore
import QoSKernel
import QoSRuntime

// Programs in which something breaks while the runtime works.

extension Scenario {
    /// Blocks every thread of the default executor, and lets a task sleep on a scheduler of ours.
    ///
    /// - Returns: the exit status.
    static func sleepsBesideBlockedDefault() -> Int32 {
        let (blocked, release, done) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        do {
            let scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
            let reserved = ThreadExecutor(name: "reserved")
            let executors: [any TaskExecutor] = [scheduler.executor(for: .utility), reserved]
            // As many as its threads can be; those that find none wait in its queue.
            let width = Topology.current().width
            for _ in 0..<(4 * width + 64) {
                Task.detached {
                    blocked.signal()
                    block(release)
                }
            }
            for _ in 0..<width { blocked.wait() }
            for (executor, name) in zip(executors, ["slept", "slept-on-thread"]) {
                Task.detached(executorPreference: executor) {
                    var slept = 0
                    for _ in 0..<10 where (try? await Task.sleep(for: .milliseconds(1))) != nil { slept += 1 }
                    Driver.say(name, slept)
                    done.signal()
                }
            }
            // The limit turns a hang into a failure; it is not what is measured.
            let haveEnded = executors.allSatisfy { _ in done.wait(timeout: .now() + 30) == .success }
            return withExtendedLifetime((scheduler, reserved)) { haveEnded ? 0 : 1 }
        } catch {
            Driver.say("error", error)
            return 2
        }
    }

    /// Takes all processors but one away from the process while every class works, and gives them back.
    func affinityShrinks() async throws {
        let calls = LinuxSchedulingCalls()
        let all = try calls.affinity(of: .current)
        guard let first = all.ids.first else { return }
        Driver.say("processors", all.ids.count)
        var ended = 0
        for round in 0..<6 {
            let processors = round % 2 == 0 ? CPUSet([first]) : all
            async let changed: Void = Self.setAffinityOfAllThreads(processors)
            ended += await withTaskGroup { group in
                for index in 0..<2_000 {
                    let qosClass = QoSClass.allCases[index % 5]
                    group.addTask(priority: qosClass.taskPriority) {
                        await Task.yield()
                        if index % 50 == 0 { try? await Task.sleep(for: .milliseconds(1)) }
                        return 1
                    }
                }
                return await group.reduce(0, +)
            }
            await changed
        }
        Driver.say("ended", ended)
        Driver.say("nested", try await Self.nestedScheduler())
    }

    /// A scheduler of its own follows the affinity of the process while every class works: its width, and what its
    /// highest workers are bound to.
    func widthFollows() async throws {
        let calls = LinuxSchedulingCalls()
        let all = try calls.affinity(of: .current)
        guard let first = all.ids.first else { return }
        Driver.say("processors", all.ids.count)
        let (widths, widthChanged) = AsyncStream.makeStream(of: Int.self)
        let scheduler = try QoSScheduler(
            configuration: QoSScheduler.Configuration(observer: WidthObserver(changed: widthChanged)))
        let isOver = Flag()
        let tasks = QoSClass.allCases.flatMap { qosClass in
            (0..<all.ids.count).map { _ in
                Task.detached(executorPreference: scheduler.executor(for: qosClass)) {
                    // At work again and again, without taking the processors from the tests that run beside it.
                    while !isOver.isSet { try? await Task.sleep(for: .milliseconds(1)) }
                }
            }
        }
        Driver.say("before", scheduler.snapshot.processors)
        await Self.setAffinityOfAllThreads(CPUSet([first]))
        for await width in widths where width == 1 { break }
        Driver.say("width", scheduler.snapshot.pools[0].width)
        await Self.setAffinityOfAllThreads(all)
        for await width in widths where width == all.ids.count { break }
        Driver.say("after", scheduler.snapshot.pools[0].width)
        // They are bound as they wake up, which no event tells.
        while Self.processorsOfBoundThreads != all { try await Task.sleep(for: .milliseconds(1)) }
        isOver.set()
        for task in tasks { await task.value }
        // Made by a worker that is bound to one processor, another scheduler is as wide as the process all the same.
        let nested = Task.detached(executorPreference: scheduler.executor(for: .userInteractive)) {
            try QoSScheduler()
        }
        Driver.say("nested", try await nested.value.snapshot.processors)
        Driver.say("clean", try await scheduler.shutdown(within: .seconds(60)).isClean)
    }

    /// Leaves work behind that blocks the end of the process.
    func holds(isForever: Bool) async {
        guard let scheduler = QoSProcess.scheduler else { return }
        await withCheckedContinuation { begun in
            Task.detached(priority: .background) {
                await scheduler.withQoS(.background, onShutdown: .finish) {
                    begun.resume()
                    repeat { try? await Task.sleep(for: .milliseconds(20)) } while isForever
                    Driver.say("held", "ended")
                }
            }
        }
        Driver.say("body", "ended")
    }

    /// Set once, by anybody.
    private final class Flag: Sendable {
        private let value = Lock(false)

        var isSet: Bool { value.withLock { $0 } }

        func set() { value.withLock { $0 = true } }
    }

    /// Is told of the width.
    private struct WidthObserver: SchedulerObserver {
        let changed: AsyncStream<Int>.Continuation

        func observe(_ event: SchedulerEvent) {
            if case .processorsChanged(_, let width) = event { changed.yield(width) }
        }
    }

    /// The processors to which workers of the two high classes are bound, each to one.
    private static var processorsOfBoundThreads: CPUSet {
        let calls = LinuxSchedulingCalls()
        let bound = threadIDs().compactMap { thread -> Int? in
            guard ["qos-ui-", "qos-in-"].contains(where: name(of: thread).hasPrefix),
                let processors = try? calls.affinity(of: thread).ids, processors.count == 1
            else { return nil }
            return processors.first
        }
        return CPUSet(bound)
    }

    /// The thread's name; nothing for one that has ended.
    private static func name(of thread: ThreadID) -> String {
        (try? LinuxSchedulingCalls().name(of: thread)) ?? ""
    }

    /// A scheduler that is made while the process has one processor.
    private static func nestedScheduler() async throws -> Bool {
        let scheduler = try QoSScheduler()
        let value = await Task(executorPreference: scheduler.executor(for: .background)) { 7 }.value
        return try await scheduler.shutdown().isClean && value == 7
    }

    /// Sets the mask of each thread of the process, as `taskset -ap` does, those of loops last: what they bind then
    /// stays bound.
    private static func setAffinityOfAllThreads(_ processors: CPUSet) async {
        var threads = threadIDs()
        _ = threads.partition { name(of: $0) == "qos-loop" }
        for thread in threads {
            // A thread that ended meanwhile needs none.
            try? LinuxSchedulingCalls().setAffinity(processors, of: thread)
        }
    }

    private static func threadIDs() -> [ThreadID] {
        guard let folder = unsafe opendir("/proc/self/task") else { return [] }
        defer { unsafe closedir(folder) }
        var found: [ThreadID] = []
        while let entry = unsafe readdir(folder) {
            let bytes = unsafe entry.pointee.d_name
            let name = unsafe withUnsafeBytes(of: bytes) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let id = Int32(name) { found.append(ThreadID(rawValue: id)) }
        }
        return found
    }

    /// Blocks a thread of the default executor: a mistake of libraries.
    private static func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}

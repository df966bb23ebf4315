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
            // As many as its threads can be; those that find none wait in its queue.
            let width = Topology.current().width
            for _ in 0..<(4 * width + 64) {
                Task.detached {
                    blocked.signal()
                    block(release)
                }
            }
            for _ in 0..<width { blocked.wait() }
            Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                var slept = 0
                for _ in 0..<10 where (try? await Task.sleep(for: .milliseconds(1))) != nil { slept += 1 }
                Driver.say("slept", slept)
                done.signal()
            }
            // The limit turns a hang into a failure; it is not what is measured.
            let hasEnded = done.wait(timeout: .now() + 30) == .success
            return withExtendedLifetime(scheduler) { hasEnded ? 0 : 1 }
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

    /// A scheduler that is made while the process has one processor.
    private static func nestedScheduler() async throws -> Bool {
        let scheduler = try QoSScheduler()
        let value = await Task(executorPreference: scheduler.executor(for: .background)) { 7 }.value
        return try await scheduler.shutdown().isClean && value == 7
    }

    /// Sets the mask of each thread of the process, as `taskset -ap` does.
    private static func setAffinityOfAllThreads(_ processors: CPUSet) async {
        guard let folder = unsafe opendir("/proc/self/task") else { return }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            let bytes = unsafe entry.pointee.d_name
            let name = unsafe withUnsafeBytes(of: bytes) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let id = Int32(name) else { continue }
            // A thread that ended meanwhile needs none.
            try? LinuxSchedulingCalls().setAffinity(processors, of: ThreadID(rawValue: id))
        }
    }

    /// Blocks a thread of the default executor: what nobody should do, and libraries do.
    private static func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}

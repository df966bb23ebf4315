import Dispatch
import Glibc
import QoSCore
import QoSEventLoop
import QoSKernel
import QoSRuntime

extension DoctorReport {
    /// Makes the report. It starts a scheduler with one worker for each class, and ends it.
    static func make() throws -> DoctorReport {
        let scheduler = try QoSScheduler()
        let tasks = DispatchGroup()
        for qosClass in QoSClass.allCases {
            tasks.enter()
            Task(executorPreference: scheduler.executor(for: qosClass)) { tasks.leave() }
        }
        tasks.wait()
        let profile = KernelProfileReport.process
        let libraryThreads = LibraryThreadTrial.run(on: scheduler)
        return DoctorReport(
            machine: machine(Topology.current()),
            rights: profile.rights,
            classes: QoSClass.descending.compactMap { qosClass in
                scheduler.workerEffects
                    .first { $0.applied.qosClass == qosClass && $0.threadName != "qos-loop" }
                    .map(classEffects)
            },
            libraryThreads: libraryThreads,
            pressure: PressureReader.Resource.allCases.map(pressure),
            sources: sources,
            library: library,
            limits: limits,
            improvements: profile.improvements)
    }

    private static func machine(_ topology: Topology) -> Machine {
        var name = utsname()
        unsafe uname(&name)
        return Machine(
            kernel: text(of: name.release), architecture: text(of: name.machine),
            processors: "\(topology.processors)", processorCount: topology.processors.count,
            quotaProcessors: topology.quota?.processors, quotaSource: topology.quota?.source,
            throttling: topology.quota.map(throttling), width: topology.width, libuv: EventLoop.libraryVersion,
            sleepInhibitor: InhibitorProgram.obstacle().map { "none: \($0)" } ?? "systemd-inhibit, with logind",
            problems: topology.problems.map { "\($0)" })
    }

    private static func throttling(_ quota: CPUQuota) -> String {
        guard let found = QuotaAccount(of: quota)?.read() else { return "unknown: cpu.stat cannot be read" }
        return "\(found.throttled) of \(found.periods) periods of \(Double(quota.period) / 1000) ms"
    }

    /// The text in one of `utsname`'s arrays, which Swift sees as a tuple.
    private static func text<Storage>(of storage: Storage) -> String {
        unsafe withUnsafeBytes(of: storage) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private static func classEffects(_ worker: WorkerEffects) -> ClassEffects {
        let applied = worker.applied
        let stat = ThreadStat(of: applied.thread)
        return ClassEffects(
            qosClass: applied.qosClass, thread: worker.threadName,
            knobs: [
                knob("policy", applied.policy) { "\($0)" },
                knob("nice", applied.nice) { "\($0)" },
                knob("slice", applied.slice) { "\(Double($0) / 1_000_000) ms" },
                knob("ioprio", applied.ioPriority) { "\($0)" },
                knob("slack", applied.timerSlack) { "\(Double($0) / 1000) µs" },
            ],
            statPolicy: stat.policy, statNice: stat.nice)
    }

    private static func knob<Value>(
        _ name: String, _ outcome: KnobOutcome<Value>, _ text: (Value) -> String
    ) -> Knob {
        let inEffect: String
        switch outcome.readBack {
        case .success(let value): inEffect = text(value)
        case .failure(let error): inEffect = "unknown (\(error))"
        }
        return Knob(
            name: name, asked: outcome.asked.map(text), inEffect: inEffect,
            error: outcome.error.map { "\($0)" }, isAsAsked: outcome.isInEffect)
    }

    private static func pressure(_ resource: PressureReader.Resource) -> Pressure {
        do throws(KernelError) {
            let found = try PressureReader().read(resource)
            return Pressure(
                resource: resource.rawValue, some10: found.some.average10, full10: found.full?.average10, error: nil)
        } catch {
            return Pressure(resource: resource.rawValue, some10: nil, full10: nil, error: "\(error)")
        }
    }

    /// The limits of every process on Linux, whatever its rights.
    private static let limits = [
        "nice values do not weigh threads of different control groups or autogroups against each other",
        "I/O priority counts for reads, and for direct writes, with the mq-deadline or bfq scheduler; buffered writes are "
            + "flushed by kernel threads and escape it",
        "a quota of processor time stops all threads of the group when it is used up, whatever their class: keep low work "
            + "below 5 ms between suspensions, so that it can be held in time",
        "locks do not inherit nice values: a preempted holder of a low class can delay a waiter of a high one",
        "an actor without an executor of its own is raised by a higher call only while it waits for its turn, and only in a process of "
            + "QoSProcess whose snapshot says promotesWaitingActors",
    ]
}

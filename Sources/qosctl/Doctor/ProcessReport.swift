import Glibc
import QoSCore
import QoSKernel
import QoSRuntime

/// The report of `qosctl doctor PID`, in the form of its JSON: the spread that a running process really has.
struct ProcessReport: Encodable {
    /// Threads that the kernel schedules alike.
    struct Threads: Encodable {
        /// The class of workers; absent for other threads.
        let qosClass: QoSClass?
        /// The names, each once.
        let names: [String]
        let count: Int
        let policy: String
        let nice: Int?
        let slice: String
        let ioPriority: String
        let processors: String
        let timerSlack: String
        let blocksProfiling: Bool
    }

    /// A limit, with its use.
    struct Limit: Encodable {
        let name: String
        let value: String
        let used: String?
        let source: String
    }

    let process: Int32
    let name: String
    let user: String
    let threadCount: Int
    /// The processors of all threads together.
    let processors: String
    let quotaProcessors: Double?
    let quotaSource: String?
    let niceSpread: String
    let niceScope: String
    let isFiltered: Bool
    let maySetNice: Bool
    let ignoredSignals: [Int32]
    let threads: [Threads]
    let limits: [Limit]
    /// Threads and limits that the operator should look at.
    let findings: [String]
    let problems: [String]

    /// - Parameters:
    ///   - reached: the limits that schedulers of the process have reached.
    ///   - pageProblem: why they are not known.
    init(
        _ process: ProcessSchedulingReader.Process, reached: [SchedulerLimit] = [], pageProblem: String? = nil
    ) {
        self.process = process.id
        (name, user) = (process.name, process.user)
        threadCount = process.threads.count
        let all = CPUSet(process.threads.flatMap { $0.processors?.ids ?? [] })
        processors = "\(all)"
        (quotaProcessors, quotaSource) = (process.quota?.processors, process.quota?.source)
        let nices = process.threads.compactMap { $0.scheduling?.nice }
        niceSpread = nices.isEmpty ? "unknown" : "\(nices.min() ?? 0) to \(nices.max() ?? 0)"
        niceScope =
            switch process.scope {
            case .ownCgroup(let path): "the process has the control group \(path) to itself"
            case .ownAutogroup: "the process leads its session and has its autogroup to itself"
            case .shared(let reason): reason
            }
        (isFiltered, maySetNice) = (process.confinement.isFiltered, process.confinement.maySetNice)
        ignoredSignals = process.ignoredSignals
        threads = Self.grouped(process.threads)
        limits = process.limits.map { Limit(name: $0.name, value: $0.value, used: $0.used, source: $0.source) }
        findings = Self.findings(of: process, all) + reached.map { "reached by a scheduler: \($0.advice)" }
        problems =
            process.problems.map { "\($0)" }
            + (pageProblem.map { ["the limits that its schedulers have reached are not known: \($0)"] } ?? [])
    }

    /// The facts by which threads are alike.
    private struct Key: Hashable {
        let qosClass: QoSClass?
        let scheduling: Scheduling?
        let ioPriority: IOPriority?
        let processors: CPUSet?
        let timerSlack: UInt64?
        let blocksProfiling: Bool
    }

    private static func grouped(_ threads: [ProcessSchedulingReader.Thread]) -> [Threads] {
        var groups: [(key: Key, names: [String])] = []
        for thread in threads {
            let key = Key(
                qosClass: qosClass(ofThread: thread.name), scheduling: thread.scheduling,
                ioPriority: thread.ioPriority, processors: thread.processors, timerSlack: thread.timerSlack,
                blocksProfiling: thread.blocksProfiling)
            if let place = groups.firstIndex(where: { $0.key == key }) {
                groups[place].names.append(thread.name)
            } else {
                groups.append((key, [thread.name]))
            }
        }
        // Workers from the highest class to the lowest, then the others in the order of their ids.
        let sorted = groups.enumerated().sorted { first, second in
            let ranks = (first.element.key.qosClass?.rank ?? -1, second.element.key.qosClass?.rank ?? -1)
            return ranks.0 == ranks.1 ? first.offset < second.offset : ranks.0 > ranks.1
        }
        return sorted.map { made($0.element.key, $0.element.names) }
    }

    private static func made(_ key: Key, _ names: [String]) -> Threads {
        var unique: [String] = []
        for name in names where !unique.contains(name) { unique.append(name) }
        return Threads(
            qosClass: key.qosClass, names: unique, count: names.count,
            policy: key.scheduling.map { "\($0.policy)" } ?? "unknown", nice: key.scheduling?.nice,
            slice: key.scheduling?.slice.map { "\(Double($0) / 1_000_000) ms" } ?? "kernel's",
            ioPriority: key.ioPriority.map { "\($0)" } ?? "unknown",
            processors: key.processors.map { "\($0)" } ?? "unknown",
            timerSlack: key.timerSlack.map { "\(Double($0) / 1000) µs" } ?? "not shown to this user",
            blocksProfiling: key.blocksProfiling)
    }

    /// The class of the worker with a thread name, `qos-bg-0`.
    private static func qosClass(ofThread name: String) -> QoSClass? {
        let parts = name.split(separator: "-")
        guard parts.count == 3, parts[0] == "qos", Int(parts[2]) != nil else { return nil }
        return QoSClass.allCases.first { $0.abbreviation == parts[1] }
    }

    private static func findings(of process: ProcessSchedulingReader.Process, _ all: CPUSet) -> [String] {
        var findings: [String] = []
        let foreign = process.threads.filter { !$0.name.hasPrefix("qos-") }
        let start = process.threads.first { $0.id.rawValue == process.id }?.scheduling
        let lowered = foreign.filter { thread in
            guard let start, let own = thread.scheduling else { return false }
            return own.nice > start.nice || own.policy != start.policy
        }
        if !lowered.isEmpty {
            findings.append("lower than the main thread, though no worker: \(listed(lowered))")
        }
        let bound = foreign.filter { $0.processors.map { $0 != all } ?? false }
        if !bound.isEmpty { findings.append("bound to fewer processors, though no worker: \(listed(bound))") }
        for limit in process.limits {
            guard let value = Int(limit.value), let used = limit.used.flatMap({ Int($0) }), used >= value else {
                continue
            }
            findings.append(
                "\(limit.name): \(used) of \(value) are used, so new ones are refused: raise \(limit.source)")
        }
        if process.confinement.isFiltered {
            findings.append("a seccomp filter judges the calls: a refusal (EPERM) may come from it and not from rights")
        }
        return findings
    }

    private static func listed(_ threads: [ProcessSchedulingReader.Thread]) -> String {
        threads.map { "\($0.name) (\($0.id.rawValue))" }.joined(separator: ", ")
    }
}

extension ProcessReport {
    /// The text form.
    var lines: [String] {
        let quota = quotaProcessors.map { "\($0) processors (\(quotaSource ?? "?"))" } ?? "none"
        let ignored = ignoredSignals.map { signal in unsafe String(cString: strsignal(signal)) + " (\(signal))" }
        var lines = [
            "process",
            "  id          \(process): \(name), user \(user), \(threadCount) threads",
            "  processors  \(processors)",
            "  quota       \(quota)",
            "  nice        \(niceSpread): \(niceScope)",
            "  rights      \(maySetNice ? "" : "no ")CAP_SYS_NICE, \(isFiltered ? "a" : "no") seccomp filter",
            "  ignores     \(ignored.isEmpty ? "no signal" : ignored.joined(separator: ", "))",
            "threads",
        ]
        for entry in threads { lines += Self.text(entry) }
        lines.append("limits")
        for limit in limits {
            let used = limit.used.map { ", \($0) used" } ?? ""
            lines.append("  \(limit.name): \(limit.value)\(used) (\(limit.source))")
        }
        if !findings.isEmpty { lines.append("look at") }
        for finding in findings { lines.append("  - \(finding)") }
        for problem in problems { lines.append("problem: \(problem)") }
        return lines
    }

    private static func text(_ threads: Threads) -> [String] {
        let title = threads.qosClass.map { "\($0)" } ?? "other"
        let shown = threads.names.prefix(8).joined(separator: ", ") + (threads.names.count > 8 ? ", …" : "")
        let count = threads.count > threads.names.count ? " (\(threads.count) threads)" : ""
        let nice = threads.nice.map { "\($0)" } ?? "unknown"
        let profiling = threads.blocksProfiling ? ", blocks SIGPROF" : ""
        return [
            "  \(title): \(shown)\(count)",
            "    policy \(threads.policy), nice \(nice), slice \(threads.slice), ioprio \(threads.ioPriority), "
                + "slack \(threads.timerSlack), processors \(threads.processors)\(profiling)",
        ]
    }
}

/// The energy use of a process between two moments: processor time and wake-ups, by class and by thread (rule S7).
///
/// The guideline: 90 % of the processor time at utility or lower when no user is waiting.
public struct EnergyReport: Sendable, Hashable, Codable {
    /// The use of one class.
    public struct Class: Sendable, Hashable, Codable {
        /// The class.
        public let qosClass: QoSClass
        /// The processor time of its workers, in seconds.
        public internal(set) var processorSeconds: Double
        /// The share of the processor time of all classes, 0…1.
        public internal(set) var share: Double
        /// The number of wake-ups per second.
        public internal(set) var wakeUpsPerSecond: Double
    }

    /// The use of one thread.
    public struct Thread: Sendable, Hashable, Codable {
        /// The kernel's id.
        public let id: Int32
        /// The name at the end.
        public let name: String
        /// The processor time, in seconds.
        public let processorSeconds: Double
        /// The number of times per second that the thread went to sleep and was woken.
        public let wakeUpsPerSecond: Double
        /// The number of times per second that the kernel took the processor away.
        public let involuntarySwitchesPerSecond: Double
        /// Whether the thread began after the first moment.
        public let isNew: Bool
    }

    /// The energy of a part of the machine. All processes together have used it.
    public struct Power: Sendable, Hashable, Codable {
        /// The part, as the kernel names it.
        public let name: String
        /// The energy, in joules.
        public let joules: Double
        /// The power, in watts.
        public let watts: Double
    }

    /// The timers of the runtime that fired for one class.
    public struct Timers: Sendable, Hashable, Codable {
        /// The class of the work that waited; `nil` for the runtime's own timers.
        public let qosClass: QoSClass?
        /// The number of timers per second that fired.
        public let firingsPerSecond: Double
        /// The number of times per second that a thread woke up for such a timer.
        public let wakeUpsPerSecond: Double
    }

    /// The time between the two moments, in seconds.
    public let seconds: Double

    /// The classes, from the highest to the lowest.
    public let classes: [Class]

    /// The threads that live at the second moment, by falling processor time.
    public let threads: [Thread]

    /// The number of threads that ended in between. Their use since the first moment is only in ``processorSeconds``.
    public let endedThreads: Int

    /// The processor time of the process, in seconds; with ended threads where that is known.
    public let processorSeconds: Double

    /// The share of the workers' processor time at utility or lower, 0…1; `nil` if the workers used none.
    public let shareAtUtilityOrLower: Double?

    /// The number of wake-ups of all threads per second.
    public let wakeUpsPerSecond: Double

    /// The energy of the machine's parts; empty where the counters cannot be read.
    public let power: [Power]

    /// The reason why ``power`` is empty; `nil` if it is not.
    public let powerProblem: String?

    /// The timers of the runtime by class, from the highest to the lowest: the classes that cause wake-ups. Empty where they
    /// are not known.
    public let timers: [Timers]

    /// The reason why ``timers`` is empty; `nil` if it is not.
    public let timerProblem: String?

    /// The recommended lowest value of ``shareAtUtilityOrLower`` while no user waits.
    public static let guideline = 0.9

    /// Compares two snapshots of one process.
    ///
    /// - Parameters:
    ///   - first: the earlier snapshot.
    ///   - last: the later one. If it is not later, all rates are zero.
    public init(from first: EnergySnapshot, to last: EnergySnapshot) {
        let seconds = Double(last.nanoseconds.less(first.nanoseconds)) / 1e9
        self.seconds = seconds
        let earlier = Dictionary(first.threads.map { ($0.id, $0) }) { $1 }
        let uses = last.threads.map { ThreadUse($0, since: earlier[$0.id]) }
        threads = uses.map { $0.report(over: seconds) }.sorted {
            ($1.processorSeconds, $0.id) < ($0.processorSeconds, $1.id)
        }
        let kept = Set(uses.filter { !$0.isNew }.map(\.thread.id))
        endedThreads = first.threads.count { !kept.contains($0.id) }
        let ofThreads = uses.reduce(UInt64(0)) { $0 &+ $1.processor }
        if let end = last.processNanoseconds, let begin = first.processNanoseconds {
            processorSeconds = Double(max(end.less(begin), ofThreads)) / 1e9
        } else {
            processorSeconds = Double(ofThreads) / 1e9
        }
        wakeUpsPerSecond = Self.rate(uses.reduce(UInt64(0)) { $0 &+ $1.wakeUps }, seconds)

        var classes = QoSClass.descending.map { qosClass in
            let own = uses.filter { ThreadRole(name: $0.thread.name) == .worker(qosClass) }
            return Class(
                qosClass: qosClass, processorSeconds: Double(own.reduce(UInt64(0)) { $0 &+ $1.processor }) / 1e9,
                share: 0, wakeUpsPerSecond: Self.rate(own.reduce(UInt64(0)) { $0 &+ $1.wakeUps }, seconds))
        }
        let whole = classes.reduce(0) { $0 + $1.processorSeconds }
        for index in classes.indices where whole > 0 { classes[index].share = classes[index].processorSeconds / whole }
        self.classes = classes
        shareAtUtilityOrLower =
            whole > 0 ? classes.filter { $0.qosClass <= .utility }.reduce(0) { $0 + $1.share } : nil
        let counters = Dictionary(first.counters.map { ($0.name, $0) }) { $1 }
        power = last.counters.compactMap { end in
            counters[end.name].map { Power(from: $0, to: end, over: seconds) }
        }
        let fired = Dictionary(first.timers.map { ($0.qosClass, $0) }) { $1 }
        timers = last.timers.map { end in
            let begin = fired[end.qosClass]
            return Timers(
                qosClass: end.qosClass, firingsPerSecond: Self.rate(end.fired.less(begin?.fired ?? 0), seconds),
                wakeUpsPerSecond: Self.rate(end.wakeUps.less(begin?.wakeUps ?? 0), seconds))
        }
        timerProblem = timers.isEmpty ? last.timerProblem ?? "no counts of timers" : nil
        powerProblem = power.isEmpty ? last.counterProblem ?? first.counterProblem ?? "no energy counters" : nil
    }

    fileprivate static func rate(_ count: UInt64, _ seconds: Double) -> Double {
        seconds > 0 ? Double(count) / seconds : 0
    }

    /// Whether a worker of the runtime is among the threads.
    public var hasWorkers: Bool {
        threads.contains { thread in
            if case .worker = ThreadRole(name: thread.name) { true } else { false }
        }
    }
}

/// The use of a thread between two snapshots.
private struct ThreadUse {
    let thread: EnergySnapshot.Thread
    let isNew: Bool
    let processor: UInt64
    let wakeUps: UInt64
    let involuntary: UInt64

    /// - Parameter earlier: the record of the same id. The kernel may have given the id to a new thread meanwhile: a
    ///   counter that has decreased shows it.
    init(_ thread: EnergySnapshot.Thread, since earlier: EnergySnapshot.Thread?) {
        self.thread = thread
        let begin = earlier.flatMap { earlier in
            thread.processorNanoseconds >= earlier.processorNanoseconds
                && thread.voluntarySwitches >= earlier.voluntarySwitches ? earlier : nil
        }
        isNew = begin == nil
        processor = thread.processorNanoseconds.less(begin?.processorNanoseconds ?? 0)
        wakeUps = thread.voluntarySwitches.less(begin?.voluntarySwitches ?? 0)
        involuntary = thread.involuntarySwitches.less(begin?.involuntarySwitches ?? 0)
    }

    func report(over seconds: Double) -> EnergyReport.Thread {
        EnergyReport.Thread(
            id: thread.id, name: thread.name, processorSeconds: Double(processor) / 1e9,
            wakeUpsPerSecond: EnergyReport.rate(wakeUps, seconds),
            involuntarySwitchesPerSecond: EnergyReport.rate(involuntary, seconds), isNew: isNew)
    }
}

extension EnergyReport.Power {
    fileprivate init(from begin: EnergySnapshot.Counter, to end: EnergySnapshot.Counter, over seconds: Double) {
        // A counter that has reached the end of its range begins again.
        let used =
            end.microjoules >= begin.microjoules
            ? end.microjoules - begin.microjoules
            : end.range.less(begin.microjoules) &+ end.microjoules
        name = end.name
        joules = Double(used) / 1e6
        watts = seconds > 0 ? joules / seconds : 0
    }
}

extension UInt64 {
    /// The difference, or 0 if the other number is larger.
    fileprivate func less(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}

/// The constants that decide how long classes wait for each other and how wide they run.
///
/// The default is the table of effects per class. A value that exists is valid: the initialisers check.
public struct SchedulingParameters: Sendable, Hashable {
    /// The constants of one class.
    public struct PerClass: Sendable, Hashable {
        /// How long the class may be kept off every core while it has work (rule C7).
        public let worstCaseWait: Duration

        /// How long the class, since it got work, may keep its cores although a lower class has waited for too long.
        public let warp: Duration

        /// How long a core is left to the class once it has waited for too long.
        public let quantum: Duration

        /// One worker per so many cores, and at least one worker.
        public let coresPerWorker: Int

        /// Makes the constants of one class.
        ///
        /// - Throws: ``SchedulingParameterError`` when a duration is negative, the quantum is zero, or
        ///   `coresPerWorker` is below 1.
        public init(
            worstCaseWait: Duration, warp: Duration, quantum: Duration, coresPerWorker: Int = 1
        ) throws(SchedulingParameterError) {
            guard worstCaseWait >= .zero else { throw .negative("worstCaseWait", worstCaseWait) }
            guard warp >= .zero else { throw .negative("warp", warp) }
            guard quantum > .zero else { throw .quantumNotPositive(quantum) }
            guard coresPerWorker >= 1 else { throw .coresPerWorkerOutOfRange(coresPerWorker) }
            self.init(valid: worstCaseWait, warp: warp, quantum: quantum, coresPerWorker: coresPerWorker)
        }

        fileprivate init(valid worstCaseWait: Duration, warp: Duration, quantum: Duration, coresPerWorker: Int) {
            self.worstCaseWait = worstCaseWait
            self.warp = warp
            self.quantum = quantum
            self.coresPerWorker = coresPerWorker
        }

        /// How many workers the class has on a number of cores; at least 1.
        public func workers(cores: Int) -> Int {
            max(1, cores / coresPerWorker)
        }
    }

    /// How long more workers than cores may keep taking jobs before the surplus of the lower classes parks.
    ///
    /// Bursts of a higher class that are shorter cost no parking and no wake-up: the kernel preempts. Zero
    /// (or less: the same) where the kernel does not separate the classes because scheduling calls are denied.
    public var crowdingGrace: Duration

    /// How long a fence stops the fenced classes completely; after it half of the width is free again. Zero (or less:
    /// the same) makes every fence a half one from its next event on.
    public var fullFence: Duration

    private var byRank: [PerClass]

    /// The constants of a class.
    public subscript(qosClass: QoSClass) -> PerClass { byRank[qosClass.rank] }

    /// The starting values of the table of effects per class.
    public init() {
        crowdingGrace = .milliseconds(2)
        fullFence = .milliseconds(250)
        byRank = [
            PerClass(valid: .milliseconds(250), warp: .zero, quantum: .milliseconds(2), coresPerWorker: 2),
            PerClass(
                valid: .milliseconds(150), warp: .milliseconds(1), quantum: .milliseconds(4), coresPerWorker: 1),
            PerClass(valid: .milliseconds(75), warp: .milliseconds(2), quantum: .milliseconds(6), coresPerWorker: 1),
            PerClass(
                valid: .microseconds(37_500), warp: .milliseconds(4), quantum: .milliseconds(8), coresPerWorker: 1),
            PerClass(valid: .zero, warp: .milliseconds(8), quantum: .milliseconds(10), coresPerWorker: 1),
        ]
    }

    /// The same constants, with those of one class replaced.
    ///
    /// - Throws: ``SchedulingParameterError`` when a lower class would not wait for longer than a higher one.
    public func replacing(_ qosClass: QoSClass, with constants: PerClass) throws(SchedulingParameterError) -> Self {
        var result = self
        result.byRank[qosClass.rank] = constants
        try result.checkOrder()
        return result
    }

    /// The constants made by a function of the class.
    ///
    /// - Throws: ``SchedulingParameterError`` when a lower class would not wait for longer than a higher one, and
    ///   what the function throws.
    public init(
        _ constants: (QoSClass) throws(SchedulingParameterError) -> PerClass
    ) throws(SchedulingParameterError) {
        self.init()
        for qosClass in QoSClass.allCases {
            byRank[qosClass.rank] = try constants(qosClass)
        }
        try checkOrder()
    }

    private func checkOrder() throws(SchedulingParameterError) {
        for rank in 1..<byRank.count where byRank[rank - 1].worstCaseWait <= byRank[rank].worstCaseWait {
            throw .waitsOutOfOrder(
                lower: byRank[rank - 1].worstCaseWait, higher: byRank[rank].worstCaseWait)
        }
    }
}

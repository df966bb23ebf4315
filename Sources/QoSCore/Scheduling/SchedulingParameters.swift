/// The constants for the waits and the widths of the classes.
///
/// The default is the table of effects per class. The initialisers check, so every existing value is valid.
package struct SchedulingParameters: Sendable, Hashable {
    /// The constants of one class.
    package struct PerClass: Sendable, Hashable {
        /// The longest time without any core while the class has work (rule C7).
        package let worstCaseWait: Duration

        /// The time for which the class, since it got work, may keep its cores although a lower class has waited for
        /// too long.
        package let warp: Duration

        /// The time for which a core is left to the class once it has waited for too long.
        package let quantum: Duration

        /// The number of cores for each worker. A class has at least one worker.
        package let coresPerWorker: Int

        /// Makes the constants of one class.
        ///
        /// - Throws: ``SchedulingParameterError`` when a duration is negative, the quantum is zero, or
        ///   `coresPerWorker` is below 1.
        package init(
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

        /// Returns the number of workers that the class has on a number of cores; at least 1.
        package func workers(cores: Int) -> Int {
            max(1, cores / coresPerWorker)
        }
    }

    /// The time for which more workers than cores may keep taking jobs before the surplus of the lower classes parks.
    ///
    /// Shorter bursts of a higher class cost no parking and no wake-up: the kernel preempts. Use zero (or less: the
    /// same) if scheduling calls are denied, because then the kernel does not separate the classes.
    package var crowdingGrace: Duration

    /// The time for which a fence stops the fenced classes completely. Then half of the width is free again. Zero (or
    /// less: the same) makes every fence a half one from its next event on.
    package var fullFence: Duration

    private var byRank: [PerClass]

    /// The constants of a class.
    package subscript(qosClass: QoSClass) -> PerClass { byRank[qosClass.rank] }

    /// The starting values of the table of effects per class.
    package init() {
        crowdingGrace = .milliseconds(2)
        fullFence = .milliseconds(250)
        byRank = [
            PerClass(valid: .milliseconds(250), warp: .zero, quantum: .milliseconds(1), coresPerWorker: 2),
            PerClass(
                valid: .milliseconds(150), warp: .milliseconds(1), quantum: .milliseconds(1), coresPerWorker: 1),
            PerClass(valid: .milliseconds(75), warp: .milliseconds(2), quantum: .milliseconds(2), coresPerWorker: 1),
            PerClass(
                valid: .microseconds(37_500), warp: .milliseconds(4), quantum: .milliseconds(2), coresPerWorker: 1),
            PerClass(valid: .zero, warp: .milliseconds(8), quantum: .milliseconds(10), coresPerWorker: 1),
        ]
    }

    /// Returns the same constants, with those of one class replaced.
    ///
    /// - Throws: ``SchedulingParameterError`` if a lower class would not wait for longer than a higher one.
    package func replacing(_ qosClass: QoSClass, with constants: PerClass) throws(SchedulingParameterError) -> Self {
        var result = self
        result.byRank[qosClass.rank] = constants
        try result.checkOrder()
        return result
    }

    /// Makes constants by a function of the class.
    ///
    /// - Throws: ``SchedulingParameterError`` if a lower class would not wait for longer than a higher one, and the
    ///   function's errors.
    package init(
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

public import QoSCore
package import QoSKernel

extension QoSScheduler {
    /// How a scheduler is set up. The defaults are right for a server.
    public struct Configuration: Sendable {
        /// How many processors to count on; `nil` takes what affinity mask and control group allow, and follows them when they
        /// change: within half a second while the scheduler works.
        ///
        /// Positive; it decides how many workers each class has.
        public var processors: Int?

        /// Workers of classes that should have another number of them than the default: as many as there are processors,
        /// half of them at background. Positive.
        ///
        /// More workers than processors come into their own where some of them block: of those that run, there are never more than
        /// processors.
        public var workers: [QoSClass: Int]

        /// Whether the classes get their kernel effects: policy, nice, slice, I/O priority, timer slack.
        ///
        /// Without them the classes are pools of threads like any others; for tests and for processes whose
        /// administrator tunes the threads from outside, by their names.
        public var appliesKernelEffects: Bool

        /// Whether a worker whose thread sleeps in the kernel with its job unfinished gets somebody to stand in for it although the job
        /// did not declare it by `QoS.withBlocking(_:)`, when work of its class waits.
        public var detectsBlocking: Bool

        /// How long a job of a class may take before it counts as stalled and is reported; a class that is not named has
        /// ``defaultStallLimit(of:)``. Positive.
        public var stallLimits: [QoSClass: Duration] = [:]

        /// Is told what the scheduler does; `nil` costs nothing.
        public var observer: (any SchedulerObserver)?

        /// The seam to the kernel's scheduling calls, for tests; `nil` is the real one.
        package var schedulingCalls: (any SchedulingCalls)?

        /// Where `proc` and `sys` are, for tests of what follows the control group.
        package var fileRoot = FileRoot.real

        /// Makes a configuration.
        public init(
            processors: Int? = nil, workers: [QoSClass: Int] = [:], appliesKernelEffects: Bool = true,
            detectsBlocking: Bool = true,
            observer: (any SchedulerObserver)? = nil
        ) {
            self.processors = processors
            self.workers = workers
            self.appliesKernelEffects = appliesKernelEffects
            self.detectsBlocking = detectsBlocking
            self.observer = observer
        }
    }
}

extension QoSScheduler.Configuration {
    /// How long a job of a class may take before it counts as stalled, where nothing else is said: 0.25, 1, 2, 5 and 10 s from the
    /// highest class to the lowest.
    public static func defaultStallLimit(of qosClass: QoSClass) -> Duration {
        switch qosClass {
        case .userInteractive: .milliseconds(250)
        case .userInitiated: .seconds(1)
        case .default: .seconds(2)
        case .utility: .seconds(5)
        case .background: .seconds(10)
        }
    }

    /// The number of processors to count on.
    ///
    /// - Parameter bound: what the process may use, where the calling thread is bound to less by another scheduler.
    /// - Returns: how many of them at a time, and how many the affinity allows without a quota.
    /// - Throws: ``QoSRuntimeError`` for a number that makes no sense.
    private func resolvedWidth(outOf bound: CPUSet?) throws(QoSRuntimeError) -> (width: Int, withoutQuota: Int) {
        for (qosClass, limit) in stallLimits where limit <= .zero {
            throw .invalidConfiguration("a stall limit of \(limit) for \(qosClass): use more than zero")
        }
        for (qosClass, count) in workers where !(1...PoolWord.maximumWorkers).contains(count) {
            throw .invalidConfiguration("\(count) workers for \(qosClass): use 1 to \(PoolWord.maximumWorkers)")
        }
        guard let processors else {
            let own = Topology.current(root: fileRoot)
            let topology = bound.map { Topology(processors: $0, quota: own.quota) } ?? own
            return (min(topology.width, PoolWord.maximumWorkers), topology.processors.count)
        }
        guard (1...PoolWord.maximumWorkers).contains(processors) else {
            throw .invalidConfiguration("\(processors) processors: use 1 to \(PoolWord.maximumWorkers)")
        }
        return (processors, processors)
    }

    /// What the configuration comes to on this machine, for a scheduler that the calling thread makes.
    ///
    /// - Throws: ``QoSRuntimeError`` for a number that makes no sense.
    func settings() throws(QoSRuntimeError) -> PoolSettings {
        let unbound = PoolGroup.processorsOfCallingWorker
        let (width, withoutQuota) = try resolvedWidth(outOf: unbound)
        return PoolSettings(
            width: width, widthWithoutQuota: withoutQuota,
            mostWide: processors ?? max(width, Topology.installedProcessors), isFixedWidth: processors != nil,
            ownWidths: workers, unbound: unbound, profile: profile,
            stallLimits: QoSClass.allCases.map { qosClass in
                (stallLimits[qosClass] ?? Self.defaultStallLimit(of: qosClass)).clampedNanoseconds
            },
            detectsBlocking: detectsBlocking, observer: observer, calls: schedulingCalls ?? LinuxSchedulingCalls(),
            fileRoot: fileRoot)
    }

    private var profile: KernelProfile? {
        guard appliesKernelEffects else { return nil }
        return schedulingCalls.map(KernelProfile.init(calls:)) ?? .process
    }
}

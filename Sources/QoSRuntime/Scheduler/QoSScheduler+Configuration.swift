public import QoSCore
package import QoSKernel

extension QoSScheduler {
    /// The setup of a scheduler. The defaults are right for a server.
    public struct Configuration: Sendable {
        /// The number of processors to count on. `nil` takes the number that affinity mask and control group allow. It
        /// then follows their changes, within half a second while the scheduler works.
        ///
        /// Positive. It decides how many workers each class has.
        public var processors: Int?

        /// The number of workers of a class, for classes that should not have the default. The default is the number of
        /// processors, and half of it at background. Positive.
        ///
        /// More workers than processors help only if some of them block: at most as many run at a time as there are
        /// processors.
        public var workers: [QoSClass: Int]

        /// Whether the classes get their kernel effects: policy, nice, slice, I/O priority, timer slack.
        ///
        /// Without them the classes are ordinary pools of threads. Use that for tests, and for processes whose
        /// administrator tunes the threads from outside, by their names.
        public var appliesKernelEffects: Bool

        /// Whether another worker stands in for a worker whose thread sleeps in the kernel inside a job, when work of
        /// its class waits. The job need not declare this by `QoS.withBlocking(_:)`.
        public var detectsBlocking: Bool

        /// The time after which a job of a class counts as stalled and is reported. A class without an entry has
        /// ``defaultStallLimit(of:)``. Positive.
        public var stallLimits: [QoSClass: Duration] = [:]

        /// The receiver of the scheduler's events; `nil` costs nothing.
        public var observer: (any SchedulerObserver)?

        /// The seam to the kernel's scheduling calls, for tests; `nil` uses the real one.
        package var schedulingCalls: (any SchedulingCalls)?

        /// The place of `proc` and `sys`, for tests of the code that follows the control group.
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
    /// Returns the time after which a job of a class counts as stalled, if the configuration sets none: 0.25, 1, 2, 5
    /// and 10 s from the highest class to the lowest.
    public static func defaultStallLimit(of qosClass: QoSClass) -> Duration {
        switch qosClass {
        case .userInteractive: .milliseconds(250)
        case .userInitiated: .seconds(1)
        case .default: .seconds(2)
        case .utility: .seconds(5)
        case .background: .seconds(10)
        }
    }

    /// Returns the number of processors to count on.
    ///
    /// - Parameter topology: the processors and the quota of the process.
    /// - Returns: the number of processors at a time.
    /// - Throws: ``QoSRuntimeError`` for a number that makes no sense.
    private func resolvedWidth(_ topology: Topology) throws(QoSRuntimeError) -> Int {
        for (qosClass, limit) in stallLimits where limit <= .zero {
            throw .invalidConfiguration("a stall limit of \(limit) for \(qosClass): use more than zero")
        }
        for (qosClass, count) in workers where !(1...PoolWord.maximumWorkers).contains(count) {
            throw .invalidConfiguration("\(count) workers for \(qosClass): use 1 to \(PoolWord.maximumWorkers)")
        }
        guard let processors else {
            return min(topology.width, PoolWord.maximumWorkers)
        }
        guard (1...PoolWord.maximumWorkers).contains(processors) else {
            throw .invalidConfiguration("\(processors) processors: use 1 to \(PoolWord.maximumWorkers)")
        }
        return processors
    }

    /// Returns the resulting settings on this machine, for a scheduler made by the calling thread.
    ///
    /// - Throws: ``QoSRuntimeError`` for a number that makes no sense.
    func settings() throws(QoSRuntimeError) -> PoolSettings {
        let unbound = PoolGroup.processorsOfCallingWorker
        // Another scheduler may bind the calling thread to fewer processors than the process has.
        let own = Topology.current(root: fileRoot)
        let topology = unbound.map { own.with(processors: $0) } ?? own
        let width = try resolvedWidth(topology)
        return PoolSettings(
            width: width, topology: topology, mostWide: processors ?? max(width, Topology.installedProcessors),
            mostUsable: Topology.installedProcessors, isFixedWidth: processors != nil,
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

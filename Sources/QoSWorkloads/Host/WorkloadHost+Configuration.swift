public import QoSCore
internal import QoSKernel

extension WorkloadHost {
    /// The settings of a host.
    public struct Configuration: Sendable {
        /// The name of the host in leases and reasons; by default that of the machine and the number of the process. It
        /// need not be unique.
        public var name = Self.defaultName
        /// The time without a renewal after which another host may take an item; positive.
        ///
        /// A hang costs this time at most. After the end of a process its items continue at once, if the other host
        /// runs on the same machine and in the same namespace of processes.
        public var leaseDuration: Duration = .seconds(30)
        /// The number of items of each class that run at the same time. A class without an entry has 2.
        public var places: [QoSClass: Int] = [:]
        /// The judge of conditions. The host itself judges those of time: a window of time, and idle.
        public var conditions: any ConditionSource = MonitoredConditions()
        /// The files that are watched for items on file events. Without a source, a host on a `QoSScheduler` watches
        /// those of the machine, and any other host watches none.
        public var files: (any FileEventSource)?
        /// The time between two looks at paths that cannot be watched; more than zero.
        public var fileLookInterval: Duration = .seconds(30)
        /// The processes that hold leases. Without a value they are those of the machine.
        package var holders: (any HolderProcesses)?
        /// The clocks.
        public var clock: any WorkloadClock = SystemWorkloadClock()
        /// The time for which ``WorkloadContext/breathe()`` waits for a condition. After it the attempt is deferred and
        /// gives its place to another one.
        public var patience: Duration = .seconds(30)
        /// The delay after ``WorkloadOutcome/deferred(because:)``, if no condition says when to continue.
        ///
        /// Each further deferral without a new checkpoint doubles it, up to an hour.
        public var deferralDelay: Duration = .seconds(60)
        /// The time for which an item runs alone that was there when a process ended; zero for no such time. It may be
        /// what ended the process.
        public var suspectTrial: Duration = .seconds(10)
        /// The time after which the host reports an attempt that has kept no checkpoint, and reported no progress;
        /// `nil` for never.
        public var silenceLimit: Duration? = .seconds(1800)
        /// The time after which a ready item with a relative priority is raised to the level of its class, so that a steady
        /// stream of others does not pass it by for ever.
        public var agingLimit: Duration = .seconds(600)
        /// The time after which finished and cancelled items are removed; `nil` to keep them. The host looks each hour.
        public var retention: Duration? = .seconds(7 * 86_400)
        /// The time after which dead items are removed; `nil` to keep them.
        public var deadRetention: Duration? = .seconds(30 * 86_400)
        /// The time for which an attempt may run after its time limit before the host gives it up.
        public var cancelGrace: Duration = .seconds(30)
        /// The time for which the end of the host waits for attempts to stop.
        public var endGrace: Duration = .seconds(10)
        /// The longest time between two looks at the wall clock, which may have been set forward.
        ///
        /// A host looks while an item waits for its time or for a window of time. Without such an item it does not wake.
        public var clockCheckInterval: Duration = .seconds(600)
        /// Waits until a workload may read or write: bytes, operations, class. `nil` for no limit.
        public var throttle: (@Sendable (_ bytes: Int, _ operations: Int, _ qosClass: QoSClass) async throws -> Void)?
        /// Receives the host's events, on any thread. It returns quickly.
        public var observer: @Sendable (WorkloadHostEvent) -> Void = { _ in }

        /// Makes the default settings.
        public init() {}

        /// The name of the machine and the number of the process.
        private static let defaultName = "\(ProcessReader.machineName ?? "host"):\(ProcessReader.number)"

        /// The delay of an item that has deferred itself some times before.
        func deferralDelay(after deferrals: Int, atMost limit: Duration = .seconds(3600)) -> Duration {
            guard deferrals > 0 else { return deferralDelay }
            // A delay of zero would double to zero.
            let doubled = max(deferralDelay, .seconds(1)) * (1 << min(deferrals, 12))
            return max(deferralDelay, min(doubled, limit))
        }

        /// The places of a class.
        func places(of qosClass: QoSClass) -> Int { max(0, places[qosClass] ?? 2) }

        /// The mistake in the settings; `nil` without one.
        var problem: String? {
            if leaseDuration < .milliseconds(10) { return "a lease of \(leaseDuration): use 10 ms or more" }
            if QoSClass.allCases.allSatisfy({ places(of: $0) == 0 }) { return "no class has a place: use 1 or more" }
            if clockCheckInterval <= .zero { return "a clock check every \(clockCheckInterval): use more than zero" }
            if fileLookInterval <= .zero { return "a look at files every \(fileLookInterval): use more than zero" }
            return nil
        }
    }
}

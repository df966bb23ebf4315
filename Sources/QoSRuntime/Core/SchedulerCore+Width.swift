import QoSCore
import QoSKernel
import Synchronization

// The width follows the processors that the process may use. A governor may lower it by class.

extension SchedulerCore {
    /// The interval at which affinity and quota are read while workers are awake. Nanoseconds. A read opens some files,
    /// 50 µs.
    private static let topologyInterval: UInt64 = 500_000_000

    /// Reads affinity and quota, if it is time, and follows them. The loop's thread: its own affinity is that of the
    /// process, because it binds itself to nothing.
    func followTopology(at now: UInt64) {
        guard now >= onLoop.nextTopology else { return }
        onLoop.nextTopology = now.addingSaturating(Self.topologyInterval)
        // What cannot be read counts as unchanged: the affinity, and the limit of each group by itself.
        let topology = Topology.current(
            root: group.settings.fileRoot, calls: group.settings.calls, after: onLoop.topology)
        onLoop.topology = topology
        if !group.isEnding { group.followQuota(topology.quota, processors: topology.processors.count) }
        guard !group.settings.isFixedWidth else { return }
        var isOtherSet = false
        if !topology.problems.contains(where: { $0.call == .getAffinity }) {
            isOtherSet = group.places.processors.withLock { processors in
                guard group.profile != nil, processors != topology.processors else { return false }
                processors = topology.processors
                return true
            }
        }
        let limit = min(topology.quota?.width ?? .max, group.pools[QoSClass.userInteractive.rank].mostWide)
        let width = max(1, min(topology.processors.count, limit))
        let before = group.width
        if width != before { changeWidth(to: width) }
        if isOtherSet || width != before { group.places.useAnew(width: width) }
    }

    private func changeWidth(to width: Int) {
        let before = group.width
        group.setWidth(width)
        for qosClass in QoSClass.allCases {
            group.pools[qosClass.rank].setWidth(group.settings.workers(of: qosClass, width: width))
        }
        group.showWidths()
        group.observe(.processorsChanged(from: before, to: width))
        group.wake(group.admission.coresChanged(to: width))
        for rank in 0..<QoSClass.allCases.count where group.pools[rank].hasWork() {
            group.pools[rank].wakeOne()
        }
    }

    // MARK: The governor

    /// Limits the number of workers of a class that are at work. A shutdown lifts all limits, and there are none from
    /// then on. Any thread.
    func setWidthLimit(_ limit: Int, of qosClass: QoSClass) {
        guard !group.isEnding else { return }
        apply(limit: max(0, limit), of: qosClass)
        // The shutdown sets its mark before it lifts the limits. So a limit set after that is seen here.
        if limit != .max, group.isEnding { apply(limit: .max, of: qosClass) }
    }

    /// Lifts the limits of all classes and the budget, because the scheduler ends.
    func liftWidthLimits() {
        for qosClass in QoSClass.allCases where group.admission.widthLimit(rank: qosClass.rank) != .max {
            apply(limit: .max, of: qosClass)
        }
        group.endBudget()
    }

    private func apply(limit: Int, of qosClass: QoSClass) {
        group.wake(group.admission.widthLimitChanged(rank: qosClass.rank, to: limit))
        group.showWidths()
        // A class that was paused until now may have work for which no thread asks any more.
        if limit > 0, group.pools[qosClass.rank].hasWork() { group.pools[qosClass.rank].wakeOne() }
    }
}

import QoSCore
import QoSKernel
import Synchronization

// The width follows what the process may use; a governor may lower it by class.

extension SchedulerCore {
    /// How often affinity and quota are read while workers are awake. Nanoseconds. Some file reads, 50 µs.
    private static let topologyInterval: UInt64 = 500_000_000

    /// Reads affinity and quota, if it is time, and follows them. The loop's thread, whose own affinity is that of the process: it
    /// binds itself to nothing.
    func followTopology(at now: UInt64) {
        guard configuration.processors == nil, now >= nextTopology else { return }
        nextTopology = now.addingSaturating(Self.topologyInterval)
        let calls = configuration.schedulingCalls ?? LinuxSchedulingCalls()
        let topology = Topology.current(root: configuration.fileRoot, calls: calls)
        // What cannot be read has not changed; the quota is followed without the affinity, too.
        var isOtherSet = false
        if !topology.problems.contains(where: { $0.call == .getAffinity }) {
            widthWithoutQuota = topology.processors.count
            isOtherSet = processors.withLock { processors in
                guard profile != nil, processors != topology.processors else { return false }
                processors = topology.processors
                return true
            }
        }
        let limit = min(topology.quota?.width ?? .max, unsafe pools[QoSClass.userInteractive.rank].mostWide)
        let width = max(1, min(widthWithoutQuota, limit))
        let before = self.width
        if width != before { changeWidth(to: width) }
        if isOtherSet || width != before { placeAnew() }
    }

    /// Takes a binding from the calling thread that it inherited from a worker of another scheduler. The loop's thread, before it
    /// makes others. A refusal leaves it bound, as the kernel wants it.
    func unbind() {
        guard let unbound else { return }
        let calls = configuration.schedulingCalls ?? LinuxSchedulingCalls()
        try? calls.setAffinity(unbound, of: .current)
    }

    private func changeWidth(to width: Int) {
        let before = self.width
        setWidth(width)
        for qosClass in QoSClass.allCases {
            unsafe pools[qosClass.rank].setWidth(configuration.workers(of: qosClass, width: width))
        }
        observe(.processorsChanged(from: before, to: width))
        wake(admission.coresChanged(to: width))
        for rank in 0..<QoSClass.allCases.count where unsafe pools[rank].hasWork() { unsafe pools[rank].wakeOne() }
    }

    // MARK: The governor

    /// Limits how many workers of a class are at work. Any thread.
    func setWidthLimit(_ limit: Int, of qosClass: QoSClass) {
        let limit = max(0, limit)
        wake(admission.widthLimitChanged(rank: qosClass.rank, to: limit))
        // One that has been let go may have work that nobody asks for any more.
        if limit > 0, unsafe pools[qosClass.rank].hasWork() { unsafe pools[qosClass.rank].wakeOne() }
    }

    /// Tells the observer of limits that have taken effect. One load where there is none.
    @inline(__always)
    func tellSettledWidths() {
        for settled in admission.takeSettledWidths() {
            unsafe pools[settled.qosClass.rank].counters.widthChange.store(settled.took, ordering: .relaxed)
            observe(
                .widthLimited(
                    settled.qosClass, to: settled.limit == .max ? nil : settled.limit,
                    afterNanoseconds: settled.took))
        }
    }
}

package import QoSRuntime

extension QoSScheduler {
    /// Returns once no work of a class runs or is queued: its tasks wait or have ended.
    package func becomesIdle(_ qosClass: QoSClass) async {
        while snapshot.pools.contains(where: { $0.qosClass == qosClass && ($0.running > 0 || $0.queued > 0) }) {
            await Task.yield()
        }
    }
}

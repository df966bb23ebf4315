import QoSCore

@testable import QoSRuntime

extension QoSScheduler {
    /// Comes back when admission counts no worker.
    ///
    /// A worker leaves after the end of its last job, so it may still be counted when those who await the job go on. A
    /// phantom one would stay, and the test would reach its time limit.
    func countsNoWorker() async {
        while QoSClass.allCases.contains(where: { core.group.admission.running(rank: $0.rank) != 0 }) {
            await Task.yield()
        }
    }
}

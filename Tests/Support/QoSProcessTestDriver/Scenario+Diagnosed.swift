import Glibc
import QoSCore
import QoSKernelTestSupport
import QoSRuntime

// A program whose workers do not end what they run, to be looked at from outside.

extension Scenario {
    /// Runs a task with a name in an activity, which is raised while it runs, and an item of a queue with a label, until
    /// the process is killed.
    func beDiagnosed() async throws {
        guard let scheduler = QoSProcess.scheduler else { return }
        let (task, item) = (Gate(), Gate())
        let named = scheduler.startTask(at: .background, name: "reindex") {
            QoS.withActivity("rebuild of the index") {
                QoS.leaveBreadcrumb("index opened")
                task.open()
                Gate().blockThread()
            }
        }
        scheduler.makeQueue("ledger", level: .utility).async {
            item.open()
            Gate().blockThread()
        }
        await task.passed()
        await item.passed()
        let before = scheduler.snapshot.runningPromoted
        scheduler.raise(named, to: .userInitiated)
        while scheduler.snapshot.runningPromoted == before { await Task.yield() }
        Driver.say("process", getpid())
        try await Task.sleep(for: .seconds(3600))
    }
}

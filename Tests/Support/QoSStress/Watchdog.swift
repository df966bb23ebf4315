import Glibc
import QoSKernel
import QoSRuntime
import Synchronization

/// A plain thread that ends the process when nothing comes to its end for too long, and says what stands still.
final class Watchdog: Sendable {
    /// The watched round.
    private struct Watched {
        var description = "no round"
        var ledger: Ledger?
        var schedulers: [QoSScheduler] = []
    }

    private let watched = Lock(Watched())
    private let limit: Int

    /// - Parameter limit: seconds without an end of anything.
    init(limit: Int) throws {
        self.limit = limit
        let thread = try Thread(name: "watchdog") { [self] in watch() }
        thread.detach()
    }

    /// A round begins.
    func watch(_ description: String, _ ledger: Ledger, _ schedulers: [QoSScheduler]) {
        watched.withLock { $0 = Watched(description: description, ledger: ledger, schedulers: schedulers) }
    }

    /// The round has come this far; a step counts as progress.
    func note(_ step: String) {
        watched.withLock { $0.description += ", \(step)" }
    }

    /// The round's schedulers are about to be released.
    func release() {
        watched.withLock { $0.schedulers = [] }
    }

    private func watch() {
        var (last, quiet) = ("", 0)
        while true {
            usleep(500_000)
            let state = watched.withLock { "\($0.description) \($0.ledger?.ended ?? 0)" }
            quiet = state == last ? quiet + 1 : 0
            last = state
            if quiet >= 2 * limit { bite() }
        }
    }

    private func bite() -> Never {
        let watched = watched.withLock { $0 }
        Report.line("hang: nothing has ended for \(limit) s in \(watched.description)")
        Report.line("open: \(watched.ledger?.openEntries ?? "")")
        for (number, scheduler) in watched.schedulers.enumerated() { Report.scheduler("\(number)", scheduler.snapshot) }
        Report.threads()
        // For a debugger that is to look at the threads.
        if unsafe getenv("QOS_STRESS_WAITS") != nil { while true { pause() } }
        _exit(3)
    }
}

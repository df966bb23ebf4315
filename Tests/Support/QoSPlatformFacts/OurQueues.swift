import QoSCore
import QoSRuntime

/// The scenarios of queues and threads with ours.
struct OurQueues {
    let scheduler: QoSScheduler

    func inferred() throws -> String {
        let seen = Handed<WorkFacts>()
        let queue = scheduler.makeQueue("plain")
        scheduler.globalQueue(for: .utility).async { queue.async { seen.hand(.here) } }
        return try "\(seen.taken())"
    }

    func itemLevel() throws -> String {
        let seen = Handed<WorkFacts>()
        scheduler.makeQueue("plain").async(level: .background) { seen.hand(.here) }
        return try "\(seen.taken())"
    }

    func enforced() throws -> String {
        let seen = Handed<WorkFacts>()
        let queue = scheduler.makeQueue("background", level: .background)
        queue.async(level: .userInitiated, flags: .enforceQoS) { seen.hand(.here) }
        return try "\(seen.taken())"
    }

    /// Levels only: a thread that runs is raised by the loop, some microseconds later.
    func highBehindLow() throws -> String {
        let (begun, goOn, after, waiting) = (
            Handed<QoSLevel?>(), Handed<Void>(), Handed<QoSLevel?>(), Handed<QoSLevel?>()
        )
        let queue = scheduler.makeQueue("background", level: .background)
        queue.async {
            begun.hand(QoS.currentLevel)
            try? goOn.taken()
            after.hand(QoS.currentLevel)
        }
        let before = try begun.taken()
        queue.async { waiting.hand(QoS.currentLevel) }
        queue.async(level: .userInitiated, flags: .enforceQoS) {}
        goOn.hand(())
        return try "\(before.name) → \(after.taken().name); \(waiting.taken().name)"
    }

    func syncOntoItself() throws -> String {
        let seen = Handed<String>()
        let queue = scheduler.makeQueue("own")
        queue.async {
            do {
                try queue.sync {}
                seen.hand("ran")
            } catch {
                seen.hand("throws: \(error)")
            }
        }
        return try seen.taken()
    }

    func thread() throws -> String {
        let thread = QoSThread(name: "background", level: .background) { WorkFacts.here }
        try thread.start()
        return try "\(thread.join())"
    }
}

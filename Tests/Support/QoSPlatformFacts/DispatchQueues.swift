import Dispatch

/// The scenarios of queues with Dispatch.
enum DispatchQueues {
    static func inferred() throws -> String {
        let seen = Handed<ThreadFacts>()
        let queue = DispatchQueue(label: "plain")
        DispatchQueue.global(qos: .utility).async { queue.async { seen.hand(.here) } }
        return try "\(seen.taken())"
    }

    static func itemLevel() throws -> String {
        let seen = Handed<ThreadFacts>()
        DispatchQueue(label: "plain").async(qos: .background) { seen.hand(.here) }
        return try "\(seen.taken())"
    }

    static func enforced() throws -> String {
        let seen = Handed<ThreadFacts>()
        let queue = DispatchQueue(label: "background", qos: .background)
        queue.async(qos: .userInitiated, flags: .enforceQoS) { seen.hand(.here) }
        return try "\(seen.taken())"
    }

    static func highBehindLow() throws -> String {
        let (begun, before, after, waiting) = (
            Handed<Void>(), Handed<ThreadFacts>(), Handed<ThreadFacts>(), Handed<ThreadFacts>()
        )
        let goOn = Handed<Void>()
        let queue = DispatchQueue(label: "background", qos: .background)
        queue.async {
            before.hand(.here)
            begun.hand(())
            try? goOn.taken()
            after.hand(.here)
        }
        try begun.taken()
        queue.async { waiting.hand(.here) }
        queue.async(qos: .userInitiated, flags: .enforceQoS) {}
        goOn.hand(())
        return try "\(before.taken()) → \(after.taken()); \(waiting.taken())"
    }

    /// It ends the process, so it is not run.
    static func syncOntoItself() -> String { "traps, and ends the process (not run)" }
}

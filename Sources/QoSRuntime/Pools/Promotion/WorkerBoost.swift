import QoSCore

/// The raise of a worker's job because work of a higher class waits for the job. It has to be undone when the job has
/// ended (`Docs/Protocols/promotion.md`).
struct WorkerBoost {
    /// The class to which the job was raised.
    let qosClass: QoSClass

    /// The means of the raise.
    let means: Means

    /// Whether the raise is only for a lock that the job holds. The raise then ends when the job gives back the lock
    /// (rule I2).
    var endsWithLock = false

    /// The class in which admission counts the worker because of the raise; `nil` for its own class.
    var countedClass: QoSClass? {
        if case .effects = means { qosClass } else { nil }
    }

    enum Means {
        /// The thread got the policy, nice value and slice of the class.
        case effects
        /// The kernel does not allow that, so the competing classes take no jobs meanwhile. `nil` when enough fences
        /// were already up.
        case fence(FenceID?)
    }
}

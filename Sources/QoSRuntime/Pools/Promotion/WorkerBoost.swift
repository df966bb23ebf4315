import QoSCore

/// What was done for the job that a worker runs because something of a higher class waits for it, and has to be undone when
/// the job has ended (`Docs/Protocols/promotion.md`).
struct WorkerBoost {
    /// The class that the job was raised to.
    let qosClass: QoSClass

    /// How.
    let means: Means

    /// Whether it is for a lock that the job holds, and for nothing else: it then ends when the lock is given back (rule I2).
    var endsWithLock = false

    /// Where admission counts the worker because of it; `nil` for its own class.
    var countedClass: QoSClass? {
        if case .effects = means { qosClass } else { nil }
    }

    enum Means {
        /// The thread got the policy, nice value and slice of the class.
        case effects
        /// The kernel does not allow that: the classes that compete with it take no jobs meanwhile. `nil` when enough fences
        /// were up already.
        case fence(FenceID?)
    }
}

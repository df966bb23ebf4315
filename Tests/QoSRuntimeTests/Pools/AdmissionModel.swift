/// Admission for a single class, without time: the rules of `Docs/Inside/Protocols/admission.md` come to a limit.
struct AdmissionModel: Hashable {
    private(set) var limit: Int
    private(set) var running = 0
    private(set) var isWaiting = false
    private(set) var hasUnderflowed = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether a worker of the class has to ask before it takes a job.
    var mustAsk: Bool { running > limit }

    /// - Returns: whether one more worker is to be woken.
    mutating func workBecameRunnable() -> Bool {
        isWaiting = true
        return settle()
    }

    mutating func workerWentIdle() {
        leave()
        isWaiting = false
    }

    /// - Returns: whether the worker parks, and whether another is to be woken.
    mutating func workerAsked() -> (parks: Bool, admits: Bool) {
        if running - 1 < limit { return (false, settle()) }
        isWaiting = true
        leave()
        return (true, settle())
    }

    /// A worker whose job is promoted counts, whatever the limit.
    mutating func workerCounted() { running += 1 }

    mutating func limitChanged(to limit: Int) -> Bool {
        self.limit = limit
        return settle()
    }

    private mutating func leave() {
        hasUnderflowed = hasUnderflowed || running == 0
        running = max(0, running - 1)
    }

    private mutating func settle() -> Bool {
        guard isWaiting, running < limit else { return false }
        isWaiting = false
        running += 1
        return true
    }
}

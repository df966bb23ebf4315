import QoSCore

extension QoSClass {
    /// Makes the class at which a job is queued: that of its priority (rule C4); default for a job without one (rule
    /// C2).
    @inline(__always)
    init(_ priority: JobPriority) {
        self = QoSClass(rawPriority: priority.rawValue) ?? .default
    }
}

extension QoSClass {
    /// Makes the class of a pool's rank, 0…4.
    @inline(__always)
    init(atRank rank: Int) {
        assert((0..<QoSClass.allCases.count).contains(rank), "no pool has rank \(rank)")
        self = QoSClass(rank: rank) ?? .default
    }
}

import QoSCore

extension QoSClass {
    /// The class at which a job is queued: that of its priority (rule C4); default for a job without one (rule C2).
    @inline(__always)
    init(_ priority: JobPriority) {
        self = QoSClass(rawPriority: priority.rawValue) ?? .default
    }
}

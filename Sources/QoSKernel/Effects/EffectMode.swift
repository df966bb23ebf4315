/// The extent to which this process may change its threads' scheduling (rule C6).
///
/// ``EffectProbe`` finds it by trying: capabilities, resource limits, user namespaces and seccomp filters all decide.
package enum EffectMode: String, Sendable, Hashable, CaseIterable {
    /// Nice goes below zero and back, and IDLE can be left: CAP_SYS_NICE, or RLIMIT_NICE of at least 32.
    case privileged
    /// Nice goes up in value and back, and IDLE can be left, but nothing goes below where the process began:
    /// RLIMIT_NICE of 20 for a process that began at nice 0.
    case reversible
    /// Nice goes up in value only, and IDLE is for good: what an unprivileged process has.
    case oneWay
    /// Neither nice nor IDLE can be changed at all: a seccomp filter.
    case denied

    /// The operator's way to a better mode; `nil` if there is no better one.
    package var improvement: String? {
        switch self {
        case .privileged:
            nil
        case .reversible:
            "For nice below zero: AmbientCapabilities=CAP_SYS_NICE (systemd), --cap-add SYS_NICE (containers)."
        case .oneWay:
            "For promotion of running work: LimitNICE=20 or AmbientCapabilities=CAP_SYS_NICE (systemd), "
                + "--cap-add SYS_NICE (containers)."
        case .denied:
            "Allow sched_setattr and setpriority in the seccomp profile."
        }
    }
}

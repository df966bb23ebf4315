/// The default tolerance of timers, by class (rule S6).
///
/// | class | tolerance | fires |
/// |---|---|---|
/// | userInteractive | 1/8 of the delay, at most 1 ms | at its deadline, or later with others |
/// | userInitiated, default | 1/4 of the delay, at most 5 ms | at its deadline, or later with others |
/// | utility, background | 4 times the delay, at most 75 ms | when a window ends |
package enum TimerLeeway {
    /// Whether a timer of a class is prompt. It then uses its window only to share a wake-up with timers that are
    /// already set.
    package static func isPrompt(_ qosClass: QoSClass) -> Bool { qosClass >= .default }

    /// Returns the tolerance of a timer without one.
    ///
    /// A high class waits for at most a fraction of the delay, so watched work stays on time. A low class waits for a
    /// multiple of the delay, up to a bound, so its wake-ups fall together.
    ///
    /// - Parameters:
    ///   - qosClass: the class of the work that waits for the timer.
    ///   - delay: nanoseconds from now to the deadline.
    /// - Returns: nanoseconds.
    package static func tolerance(of qosClass: QoSClass, delay: UInt64) -> UInt64 {
        switch qosClass {
        case .userInteractive: min(delay / 8, 1_000_000)
        case .userInitiated, .default: min(delay / 4, 5_000_000)
        case .utility, .background: delay > 75_000_000 / 4 ? 75_000_000 : delay * 4
        }
    }
}

/// How late a timer may fire whose creator did not say: its class decides (rule S6).
public enum TimerLeeway {
    /// The tolerance of a timer without one.
    ///
    /// A high class waits for at most a fraction of the delay, so that what somebody watches stays on time; the low
    /// ones for a multiple of it up to a bound, so that their wake-ups fall together.
    ///
    /// - Parameters:
    ///   - qosClass: of the work that waits for the timer.
    ///   - delay: nanoseconds from now to the deadline.
    /// - Returns: nanoseconds.
    public static func tolerance(of qosClass: QoSClass, delay: UInt64) -> UInt64 {
        switch qosClass {
        case .userInteractive: min(delay / 8, 1_000_000)
        case .userInitiated, .default: min(delay / 4, 5_000_000)
        case .utility, .background: delay > 75_000_000 / 4 ? 75_000_000 : delay * 4
        }
    }
}

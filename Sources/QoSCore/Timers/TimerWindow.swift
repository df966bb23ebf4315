/// The window in which a timer may fire, and the use of that window (rule S6).
@usableFromInline
package struct TimerWindow: Sendable, Hashable {
    /// The earliest moment, in nanoseconds of a monotonic clock.
    @usableFromInline package let deadline: UInt64

    /// The length of the window, in nanoseconds.
    @usableFromInline package let tolerance: UInt64

    /// Whether the timer fires at its deadline unless it can share a wake-up with a later one.
    ///
    /// Any other timer waits until a window ends, so that later timers share its wake-up.
    @usableFromInline package let isPrompt: Bool

    /// The class of the work that waits; `nil` for the runtime's own timers.
    package let qosClass: QoSClass?

    /// Makes a window.
    package init(deadline: UInt64, tolerance: UInt64, isPrompt: Bool = true, for qosClass: QoSClass? = nil) {
        self.deadline = deadline
        self.tolerance = tolerance
        self.isPrompt = isPrompt
        self.qosClass = qosClass
    }

    /// Makes the window of a timer for work of a class.
    ///
    /// - Parameters:
    ///   - deadline: the earliest moment, in nanoseconds.
    ///   - now: the present, in nanoseconds of the same clock.
    ///   - tolerance: nanoseconds; `nil` takes ``TimerLeeway/tolerance(of:delay:)``.
    ///   - qosClass: the class of the work that waits.
    package init(deadline: UInt64, now: UInt64, tolerance: UInt64?, of qosClass: QoSClass) {
        let delay = deadline > now ? deadline - now : 0
        self.init(
            deadline: deadline, tolerance: tolerance ?? TimerLeeway.tolerance(of: qosClass, delay: delay),
            isPrompt: TimerLeeway.isPrompt(qosClass), for: qosClass)
    }

    /// The latest moment, in nanoseconds; `UInt64.max` for a window that would end beyond it.
    package var end: UInt64 {
        let (end, isBeyond) = deadline.addingReportingOverflow(tolerance)
        return isBeyond ? .max : end
    }
}

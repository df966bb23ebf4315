package import QoSCore
import Synchronization

/// Counts the timers that fire, and the wake-ups for them, by the class of the work that waits (rule S7), and notes the
/// limits that were reached.
///
/// A tally of a scheduler counts for the process, too. The numbers of the process lie in the memory that it shows
/// (``DiagnosticsMapping``), so that `qosctl` reads them from outside.
///
/// Threading: any thread. A count is two or four atomic additions.
// SAFETY: the memory is made in `init` and never freed before `deinit`; its words are atomic.
@safe
package final class TimerTally: @unchecked Sendable {
    /// The tally of the process.
    package static let process = TimerTally(in: DiagnosticsMapping.process)

    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let mapping: DiagnosticsMapping?

    /// Makes a tally of a scheduler, without counts.
    package convenience init() { self.init(in: nil) }

    /// - Parameter mapping: has the counts; with `nil` the tally counts for itself.
    private init(in mapping: DiagnosticsMapping?) {
        self.mapping = mapping
        if let mapping {
            unsafe words = mapping.timers
        } else {
            unsafe words = .allocate(capacity: 2 * TimerCounts.owners)
            for index in 0..<2 * TimerCounts.owners { unsafe (words + index).initialize(to: Atomic(0)) }
        }
    }

    deinit {
        if mapping == nil { unsafe words.deallocate() }
    }

    /// Counts a timer that fires.
    ///
    /// - Parameters:
    ///   - qosClass: the class of the work that waits; `nil` for the runtime's own timers.
    ///   - isWakeUp: whether a thread has woken up for this timer. Others share the wake-up.
    package func fired(for qosClass: QoSClass?, isWakeUp: Bool) {
        count(qosClass, isWakeUp)
        if self !== Self.process { Self.process.count(qosClass, isWakeUp) }
    }

    private func count(_ qosClass: QoSClass?, _ isWakeUp: Bool) {
        let owner = qosClass?.rank ?? TimerCounts.owners - 1
        unsafe words[owner].wrappingAdd(1, ordering: .relaxed)
        if isWakeUp { unsafe words[TimerCounts.owners + owner].wrappingAdd(1, ordering: .relaxed) }
    }

    /// Notes that a limit was reached in the process.
    ///
    /// - Parameter limit: its number, 0…63.
    package func reached(limit: Int) { mapping?.reached(limit: limit) }

    /// The counts so far, from the highest class to the lowest, and the runtime's own last.
    package var timers: [EnergySnapshot.Timers] {
        TimerCounts.timers((0..<2 * TimerCounts.owners).map { unsafe words[$0].load(ordering: .relaxed) })
    }

    /// The counts of a class; `nil` for the runtime's own.
    package func timers(for qosClass: QoSClass?) -> EnergySnapshot.Timers {
        timers.first { $0.qosClass == qosClass } ?? .init(qosClass: qosClass, fired: 0, wakeUps: 0)
    }
}

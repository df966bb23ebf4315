internal import CQoSShims
package import QoSCore
import Synchronization

/// Counts the timers that fire, and the wake-ups for them, by the class of the work that waits (rule S7), and notes the
/// limits that were reached.
///
/// A tally of a scheduler counts for the process, too. The numbers of the process lie in a page of shared memory, so
/// that `qosctl` reads them from outside (`Docs/Inside/Decisions/0024-timers-shown.md`).
///
/// Threading: any thread. A count is two or four atomic additions.
// SAFETY: the memory is made in `init` and never freed before `deinit`; its words are atomic.
@safe
package final class TimerTally: @unchecked Sendable {
    /// The tally of the process.
    package static let process = TimerTally(shownAs: TimerTally.pageName)

    /// The name of the page in `/proc/PID/fd`.
    static let pageName = "qos-timers"

    /// The first word of the page: "QOSTIMR" and the version of the layout. The numbers follow.
    static let mark: UInt64 = 0x02_524D_4954_534F_51

    /// The number of the owners: the classes by rank, then the runtime itself.
    static let owners = QoSClass.allCases.count + 1

    /// The size of the page in bytes.
    static let size = wordCount * MemoryLayout<UInt64>.stride

    /// The mark, the timers and the wake-ups of each owner, and the bits of the limits that were reached.
    private static let wordCount = 2 + 2 * owners

    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let isShown: Bool

    /// Makes a tally of a scheduler, without counts.
    package convenience init() { self.init(shownAs: nil) }

    private init(shownAs name: String?) {
        var page: UnsafeMutableRawPointer?
        isShown =
            name.map { name in unsafe name.withCString { unsafe cqos_make_shown_page($0, Self.size, &page) } >= 0 }
            ?? false
        // Without a page, as where the system call is forbidden, the process counts for itself.
        let memory =
            unsafe isShown
            ? page.unsafelyUnwrapped : .allocate(byteCount: Self.size, alignment: MemoryLayout<UInt64>.alignment)
        unsafe words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: Self.wordCount)
        for index in 0..<Self.wordCount { unsafe (words + index).initialize(to: Atomic(0)) }
        // Last, so that a reader finds numbers behind it.
        unsafe words[0].store(Self.mark, ordering: .releasing)
    }

    deinit {
        // The page of the process lasts as long as the process.
        if !isShown { unsafe UnsafeMutableRawPointer(words).deallocate() }
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
        let owner = qosClass?.rank ?? Self.owners - 1
        unsafe words[1 + owner].wrappingAdd(1, ordering: .relaxed)
        if isWakeUp { unsafe words[1 + Self.owners + owner].wrappingAdd(1, ordering: .relaxed) }
    }

    /// Notes that a limit was reached in the process.
    ///
    /// - Parameter limit: its number, 0…63.
    package func reached(limit: Int) {
        unsafe words[Self.wordCount - 1].bitwiseOr(1 << UInt64(limit & 63), ordering: .relaxed)
    }

    /// The counts so far, from the highest class to the lowest, and the runtime's own last.
    package var timers: [EnergySnapshot.Timers] {
        Self.timers((0..<Self.wordCount).map { unsafe words[$0].load(ordering: .relaxed) }) ?? []
    }

    /// The counts of a class; `nil` for the runtime's own.
    package func timers(for qosClass: QoSClass?) -> EnergySnapshot.Timers {
        timers.first { $0.qosClass == qosClass } ?? .init(qosClass: qosClass, fired: 0, wakeUps: 0)
    }

    /// Returns the numbers of the limits from the words of a page.
    static func limits(_ words: [UInt64]) -> [Int] {
        let bits = words.last ?? 0
        return (0..<64).filter { bits >> UInt64($0) & 1 != 0 }
    }

    /// Returns the counts from the words of a page; `nil` if it is none.
    static func timers(_ words: [UInt64]) -> [EnergySnapshot.Timers]? {
        guard words.count == wordCount, words[0] == mark else { return nil }
        let classes = QoSClass.descending.map { Optional($0) } + [nil]
        return classes.map { qosClass in
            let owner = qosClass?.rank ?? owners - 1
            return .init(qosClass: qosClass, fired: words[1 + owner], wakeUps: words[1 + owners + owner])
        }
    }
}

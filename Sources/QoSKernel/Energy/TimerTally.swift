internal import CQoSShims
package import QoSCore
import Synchronization

/// Counts the timers that fire, and the wake-ups for them, by the class of the work that waits (rule S7).
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
    static let mark: UInt64 = 0x01_524D_4954_534F_51

    /// The number of the owners: the classes by rank, then the runtime itself.
    static let owners = QoSClass.allCases.count + 1

    /// The size of the page in bytes.
    static let size = (1 + 2 * owners) * MemoryLayout<UInt64>.stride

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
        unsafe words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: 1 + 2 * Self.owners)
        for index in 0...2 * Self.owners { unsafe (words + index).initialize(to: Atomic(0)) }
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

    /// The counts so far, from the highest class to the lowest, and the runtime's own last.
    package var timers: [EnergySnapshot.Timers] {
        Self.timers((0...2 * Self.owners).map { unsafe words[$0].load(ordering: .relaxed) }) ?? []
    }

    /// The counts of a class; `nil` for the runtime's own.
    package func timers(for qosClass: QoSClass?) -> EnergySnapshot.Timers {
        timers.first { $0.qosClass == qosClass } ?? .init(qosClass: qosClass, fired: 0, wakeUps: 0)
    }

    /// Returns the counts from the words of a page; `nil` if it is none.
    static func timers(_ words: [UInt64]) -> [EnergySnapshot.Timers]? {
        guard words.count == 1 + 2 * owners, words[0] == mark else { return nil }
        let classes = QoSClass.descending.map { Optional($0) } + [nil]
        return classes.map { qosClass in
            let owner = qosClass?.rank ?? owners - 1
            return .init(qosClass: qosClass, fired: words[1 + owner], wakeUps: words[1 + owners + owner])
        }
    }
}

internal import Glibc
import QoSCore
import QoSKernel
import Synchronization

/// The waits of tasks of which the concurrency library reports no raise.
///
/// A task's record does not rise if it was high from the start (``RaisedTasks``), so its escalation handlers do not run.
/// Such a task may wait at a low level: for a lock, an item or an operation. The wait stands in this table while it
/// lasts, and each look for awaited work goes through the table.
///
/// The table has 256 places. Further waits are kept behind a lock.
///
/// Threading: any thread, no lock for the first 256 waits. The end of a wait waits for the end of a look at its task: some microseconds, if the
/// looking thread keeps its processor.
package enum HiddenWaits {
    /// The number of entries.
    private static let capacity = 256

    /// The number of entries that are tried for one wait.
    private static let probes = 32

    /// Set in an entry while a thread looks at its wait.
    private static let looked: UInt = 1

    // SAFETY: allocated once, never freed; the words are atomic.
    nonisolated(unsafe) private static let entries: UnsafeMutablePointer<Atomic<UInt>> = {
        let entries = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (entries + index).initialize(to: Atomic(0)) }
        return unsafe entries
    }()

    /// The waits that found no place in the table.
    private static let surplus = Lock<[ObjectIdentifier: HiddenWait]>([:])

    /// The number of waits. While it is 0, no thread looks.
    private static let count = Atomic<Int>(0)

    /// The number of surplus waits.
    private static let surplusCount = Atomic<Int>(0)

    /// Begins a wait of the calling task. The task calls ``end(_:)`` when the wait is over.
    ///
    /// - Parameters:
    ///   - level: the level at which it waits.
    ///   - raise: called on the looking thread if the level rises, also when the wait has just ended. It may resume the
    ///     task.
    static func begin(at level: QoSLevel, _ raise: @escaping @Sendable (QoSLevel) -> Void) -> Place? {
        guard let task = ConcurrencyRuntime.currentTask else { return nil }
        let wait = HiddenWait(task: task, level: level, raise: raise)
        let first = task.tableIndex
        let word = unsafe UInt(bitPattern: Unmanaged.passUnretained(wait).toOpaque())
        for probe in 0..<probes {
            let index = (first &+ probe) & (capacity - 1)
            guard
                unsafe entries[index].compareExchange(
                    expected: 0, desired: word, ordering: .sequentiallyConsistent
                ).exchanged
            else { continue }
            count.wrappingAdd(1, ordering: .sequentiallyConsistent)
            return Place(index: index, wait: wait)
        }
        surplus.withLock { $0[ObjectIdentifier(wait)] = wait }
        surplusCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
        count.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return Place(index: nil, wait: wait)
    }

    /// Ends a wait.
    static func end(_ place: Place) {
        guard let index = place.index else {
            // Waits for a look at the task.
            _ = surplus.withLock { $0.removeValue(forKey: ObjectIdentifier(place.wait)) }
            surplusCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            count.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            return
        }
        let word = unsafe UInt(bitPattern: Unmanaged.passUnretained(place.wait).toOpaque())
        while unsafe !entries[index].compareExchange(
            expected: word, desired: 0, ordering: .sequentiallyConsistent
        ).exchanged {
            sched_yield()
        }
        count.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }

    /// Raises the waits whose tasks something higher needs by now. Any thread; one load if there is no such wait.
    package static func look() {
        if count.load(ordering: .sequentiallyConsistent) != 0 { lookAtAll() }
    }

    @inline(never)
    private static func lookAtAll() {
        for index in 0..<capacity {
            let word = unsafe entries[index].load(ordering: .relaxed)
            guard word != 0, word & looked == 0,
                unsafe entries[index].compareExchange(
                    expected: word, desired: word | looked, ordering: .sequentiallyConsistent
                ).exchanged
            else { continue }
            // SAFETY: the waiting task keeps the wait as long as the entry has its address, and cannot take it out now.
            // The reference keeps the wait beyond its end.
            let wait = unsafe Unmanaged<HiddenWait>.fromOpaque(
                UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped
            ).takeUnretainedValue()
            let level = wait.raisedLevel()
            unsafe entries[index].store(word, ordering: .releasing)
            // Not earlier: the raise may resume the task, and the task may run on this thread and end its wait.
            if let level { wait.raise(level) }
        }
        if surplusCount.load(ordering: .sequentiallyConsistent) != 0 { lookAtSurplus() }
    }

    /// Raises the surplus waits. No task can end its wait, and so come to its own end, while the lock is held.
    private static func lookAtSurplus() {
        let raised = surplus.withLock { waits in
            waits.values.compactMap { wait in wait.raisedLevel().map { (wait, $0) } }
        }
        for (wait, level) in raised { wait.raise(level) }
    }

    /// The entry of a wait.
    struct Place: Sendable {
        /// `nil` for a surplus wait.
        fileprivate let index: Int?
        fileprivate let wait: HiddenWait
    }
}

/// One wait of a task.
private final class HiddenWait: Sendable {
    let raise: @Sendable (QoSLevel) -> Void
    private let task: TaskAddress

    /// The rank of the class at which the task waits.
    private let rank: Atomic<Int>

    init(task: TaskAddress, level: QoSLevel, raise: @escaping @Sendable (QoSLevel) -> Void) {
        (self.task, self.raise) = (task, raise)
        rank = Atomic(level.qosClass.rank)
    }

    /// Returns the level to which the wait has to rise. One thread at a time, while the task cannot end.
    func raisedLevel() -> QoSLevel? {
        guard let needed = ConcurrencyRuntime.classNeeding(task: task), needed.rank > rank.load(ordering: .relaxed)
        else { return nil }
        rank.store(needed.rank, ordering: .relaxed)
        return QoSLevel(needed)
    }
}

import QoSCore
import Synchronization

/// The tasks whose raise by this runtime does not show in the concurrency library's record.
///
/// The record never falls, so it does not rise either if it was high from the start. For example, a task that was made
/// on the main thread for the background executor is recorded at userInitiated. Its level is background, and a raise of
/// it is noted here.
///
/// The table is bounded. A raise that finds no place is left out. An entry lasts until ``remove(_:)``: until the task
/// has given back the lock for which a thread waited, or until the task has ended.
///
/// Threading: any thread, no lock. Two threads may raise the same task; a look at the same time may then miss the
/// latest raise.
enum RaisedTasks {
    /// The number of entries.
    private static let capacity = 64

    /// The number of entries that are looked at for one task.
    private static let probes = 8

    // SAFETY: allocated once, never freed; the words are atomic.
    nonisolated(unsafe) private static let entries: UnsafeMutablePointer<Atomic<UInt>> = {
        let entries = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (entries + index).initialize(to: Atomic(0)) }
        return unsafe entries
    }()

    /// The number of used entries. While it is 0, no thread looks.
    private static let count = Atomic<Int>(0)

    /// The bits of an address. The class is kept above these 48 bits.
    private static let addressMask: UInt = (1 << 48) - 1

    /// Notes that a task is raised to a class. O(1).
    static func raise(_ task: TaskAddress, to qosClass: QoSClass) {
        let word = task.rawValue | UInt(qosClass.rank + 1) << 48
        for index in places(of: task) {
            let entry = unsafe entries + index
            let seen = unsafe entry.pointee.load(ordering: .relaxed)
            guard seen == 0 || seen & addressMask == task.rawValue else { continue }
            if unsafe entry.pointee.compareExchange(
                expected: seen, desired: max(seen, word), ordering: .sequentiallyConsistent
            ).exchanged {
                if seen == 0 { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
                return
            }
        }
    }

    /// Removes a task. O(1).
    static func remove(_ task: TaskAddress) {
        guard count.load(ordering: .sequentiallyConsistent) != 0 else { return }
        for index in places(of: task) {
            let entry = unsafe entries + index
            let seen = unsafe entry.pointee.load(ordering: .relaxed)
            guard seen & addressMask == task.rawValue,
                unsafe entry.pointee.compareExchange(expected: seen, desired: 0, ordering: .sequentiallyConsistent)
                    .exchanged
            else { continue }
            count.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        }
    }

    /// Returns the class to which a task was raised; `nil` for nearly all. O(1).
    @inline(__always)
    static func qosClass(of task: TaskAddress) -> QoSClass? {
        count.load(ordering: .relaxed) == 0 ? nil : find(task)
    }

    private static func find(_ task: TaskAddress) -> QoSClass? {
        for index in places(of: task) {
            let seen = unsafe entries[index].load(ordering: .relaxed)
            if seen & addressMask == task.rawValue { return QoSClass(rank: Int(seen >> 48) - 1) }
        }
        return nil
    }

    /// Returns the indices at which a task may be.
    private static func places(of task: TaskAddress) -> some Sequence<Int> {
        let first = Int(truncatingIfNeeded: (task.rawValue >> 4) &* 0x9E37_79B9_7F4A_7C15 >> 32)
        return (0..<probes).lazy.map { (first &+ $0) & (capacity - 1) }
    }
}

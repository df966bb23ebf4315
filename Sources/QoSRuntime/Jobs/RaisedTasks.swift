import QoSCore
import QoSKernel
import Synchronization

/// The tasks whose raise by this runtime does not show in the concurrency library's record.
///
/// The record never falls, so it does not rise either if it was high from the start. For example, a task that was made
/// on the main thread for the background executor is recorded at userInitiated. Its level is background, and a raise of
/// it is noted here.
///
/// A task may be raised for two causes at a time. Each raise lasts until ``end(_:of:)``: one for a lock until the task
/// has given back what others wait for, one by the program until the task has ended.
///
/// A third cause does not raise the task itself, but what it waits for: code of a ``QoSScheduler/withQoS(_:operation:)``
/// that stays on an actor with an executor of its own, such as the main actor. The task then waits with the class of the
/// scope, and neither its record nor its thread shows that.
///
/// The table has 64 places. Further tasks are kept behind a lock.
///
/// Threading: any thread, no lock for the first tasks. Two threads may raise the same task; a look at the same time may
/// then miss the latest raise.
enum RaisedTasks {
    /// The cause of a raise.
    enum Cause: UInt {
        /// ``QoSScheduler/raise(_:to:)``. The raw values are the places of the class in an entry.
        case program = 48
        /// A waiter for a lock or another resource that the task holds.
        case lock = 52
        /// A scope of the task, outside of the pools. It counts for what the task waits for.
        case scope = 56
    }

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

    /// The entries of tasks that found no place in the table, by address.
    private static let surplus = Lock<[UInt: UInt]>([:])

    /// The number of used entries. While it is 0, no thread looks.
    private static let count = Atomic<Int>(0)

    /// The number of surplus entries.
    private static let surplusCount = Atomic<Int>(0)

    /// The number of scopes outside of the pools.
    private static let scopeCount = Atomic<Int>(0)

    /// Whether any task may have a scope outside of the pools. While none has, no look asks for the waiters of queued
    /// work, whatever else is raised.
    @inline(__always)
    static var mayHaveScopes: Bool { scopeCount.load(ordering: .relaxed) != 0 }

    /// Notes a scope of a task outside of the pools, until ``endScope(of:outer:)``.
    static func beginScope(of task: TaskAddress, at qosClass: QoSClass) {
        scopeCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
        end(.scope, of: task)
        raise(task, to: qosClass, for: .scope)
    }

    /// Ends the innermost scope of a task. The class of the outer one counts again; `nil` without one.
    static func endScope(of task: TaskAddress, outer: QoSClass?) {
        end(.scope, of: task)
        if let outer { raise(task, to: outer, for: .scope) }
        scopeCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }

    /// The bits of an address. The classes are kept above these 48 bits, in four bits each: 1 + the rank, or 0.
    private static let addressMask: UInt = (1 << 48) - 1

    /// Notes that a task is raised to a class. O(1).
    ///
    /// - Returns: `false` if it was already noted as raised as high for this cause.
    @discardableResult
    static func raise(_ task: TaskAddress, to qosClass: QoSClass, for cause: Cause) -> Bool {
        for index in places(of: task) {
            let entry = unsafe entries + index
            let seen = unsafe entry.pointee.load(ordering: .relaxed)
            guard seen == 0 || seen & addressMask == task.rawValue else { continue }
            let noted = UInt(qosClass.rank + 1)
            guard field(cause, of: seen) < noted else { return false }
            // Counted first: an end that finds nothing counted looks at no entry.
            if seen == 0 { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
            if unsafe entry.pointee.compareExchange(
                expected: seen, desired: task.rawValue | seen & ~mask(cause) | noted << cause.rawValue,
                ordering: .sequentiallyConsistent
            ).exchanged {
                return true
            }
            if seen == 0 { count.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        }
        return raiseSurplus(task, to: qosClass, for: cause)
    }

    @inline(never)
    private static func raiseSurplus(_ task: TaskAddress, to qosClass: QoSClass, for cause: Cause) -> Bool {
        surplus.withLock { entries in
            let seen = entries[task.rawValue] ?? 0
            let noted = UInt(qosClass.rank + 1)
            guard field(cause, of: seen) < noted else { return false }
            entries[task.rawValue] = seen & ~mask(cause) | noted << cause.rawValue
            if seen == 0 {
                surplusCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
                count.wrappingAdd(1, ordering: .sequentiallyConsistent)
            }
            return true
        }
    }

    /// Ends the raises of a task for one cause. O(1).
    static func end(_ cause: Cause, of task: TaskAddress) {
        guard count.load(ordering: .sequentiallyConsistent) != 0 else { return }
        for index in places(of: task) {
            let entry = unsafe entries + index
            var seen = unsafe entry.pointee.load(ordering: .relaxed)
            while seen & addressMask == task.rawValue {
                let left = seen & ~mask(cause)
                let (exchanged, now) = unsafe entry.pointee.compareExchange(
                    expected: seen, desired: left & ~addressMask == 0 ? 0 : left, ordering: .sequentiallyConsistent)
                guard exchanged else {
                    seen = now
                    continue
                }
                if left & ~addressMask == 0 { count.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
                break
            }
        }
        if surplusCount.load(ordering: .sequentiallyConsistent) != 0 { endSurplus(cause, of: task) }
    }

    @inline(never)
    private static func endSurplus(_ cause: Cause, of task: TaskAddress) {
        surplus.withLock { entries in
            guard let seen = entries[task.rawValue] else { return }
            let left = seen & ~mask(cause)
            entries[task.rawValue] = left == 0 ? nil : left
            guard left == 0 else { return }
            surplusCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            count.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        }
    }

    /// Returns the class to which a task was raised; `nil` for nearly all. O(1).
    @inline(__always)
    static func qosClass(of task: TaskAddress) -> QoSClass? {
        count.load(ordering: .relaxed) == 0 ? nil : find(task)
    }

    private static func find(_ task: TaskAddress) -> QoSClass? {
        let word = word(of: task)
        return QoSClass(rank: Int(max(field(.program, of: word), field(.lock, of: word))) - 1)
    }

    /// Returns the class with which a task waits in a scope outside of the pools; `nil` for nearly all. The task is only
    /// compared by its address. O(1).
    @inline(__always)
    static func classOfScope(of task: TaskAddress) -> QoSClass? {
        guard mayHaveScopes else { return nil }
        return QoSClass(rank: Int(field(.scope, of: word(of: task))) - 1)
    }

    /// Returns the raises of a task in one word, the highest of each cause; 0 for none.
    private static func word(of task: TaskAddress) -> UInt {
        var found: UInt = 0
        for index in places(of: task) {
            let seen = unsafe entries[index].load(ordering: .relaxed)
            if seen & addressMask == task.rawValue { found = highest(found, seen & ~addressMask) }
        }
        if surplusCount.load(ordering: .relaxed) != 0 {
            found = highest(found, surplus.withLock { $0[task.rawValue] ?? 0 })
        }
        return found
    }

    /// Returns the highest class of each cause in either word.
    private static func highest(_ first: UInt, _ second: UInt) -> UInt {
        guard first != 0, second != 0 else { return first | second }
        return [Cause.program, .lock, .scope].reduce(0) {
            $0 | max(first & mask($1), second & mask($1))
        }
    }

    private static func field(_ cause: Cause, of word: UInt) -> UInt { word >> cause.rawValue & 0xF }

    private static func mask(_ cause: Cause) -> UInt { 0xF << cause.rawValue }

    /// Returns the indices at which a task may be.
    private static func places(of task: TaskAddress) -> some Sequence<Int> {
        let first = task.tableIndex
        return (0..<probes).lazy.map { (first &+ $0) & (capacity - 1) }
    }
}

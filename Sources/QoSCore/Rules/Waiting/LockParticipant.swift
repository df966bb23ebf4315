/// A thread or a task, as the holder of a lock or as a waiter, in one word.
package struct LockParticipant: Hashable, Sendable {
    /// A thread's id times two, plus 1; or a task's address, which is even.
    package let word: UInt

    /// Returns a thread, by the kernel's id of it.
    package static func thread(_ id: UInt32) -> LockParticipant { LockParticipant(word: UInt(id) << 1 | 1) }

    /// Returns a task, by its address.
    package static func task(at address: UInt) -> LockParticipant { LockParticipant(word: address) }

    /// The thread's id; `nil` for a task.
    package var threadID: UInt32? { word & 1 == 0 ? nil : UInt32(truncatingIfNeeded: word >> 1) }

    /// The task's address; `nil` for a thread.
    package var taskAddress: UInt? { word & 1 == 0 ? word : nil }
}

/// A resource that a party holds or waits for, in one word.
package struct LockResource: Hashable, Sendable {
    /// The kind of a resource.
    package enum Kind: UInt, Sendable {
        /// A lock for tasks, by its address.
        case gate
        /// A lock for threads, by its address.
        case mutex
        /// The execution of a task by a thread that sleeps meanwhile, by the thread's id.
        case execution
        /// The target of a thread's wait that is no lock, by the thread's id.
        case awaited
    }

    private let word: UInt

    private init(_ kind: Kind, _ payload: UInt) {
        word = payload | kind.rawValue
    }

    /// A lock for tasks, by its address.
    package static func gate(_ address: UInt) -> LockResource { LockResource(.gate, address) }

    /// A lock for threads, by its address.
    package static func mutex(_ address: UInt) -> LockResource { LockResource(.mutex, address) }

    /// The execution of a task by a thread that sleeps meanwhile.
    package static func execution(_ thread: UInt32) -> LockResource { LockResource(.execution, UInt(thread) << 2) }

    /// The target of a thread's wait that is no lock.
    package static func awaited(_ thread: UInt32) -> LockResource { LockResource(.awaited, UInt(thread) << 2) }

    /// The kind of the resource.
    package var kind: Kind { Kind(rawValue: word & 3) ?? .gate }

    /// The address of a lock.
    package var address: UInt { word & ~3 }

    /// The thread of an execution, or the thread of a wait that is no wait for a lock.
    package var thread: UInt32 { UInt32(truncatingIfNeeded: word >> 2) }
}

import CQoSShims
import QoSKernel

/// Who can hold a lock, or wait for one.
enum LockParty: Hashable, Sendable {
    /// A thread, by the kernel's id of it.
    case thread(UInt32)
    case task(TaskAddress)

    /// The calling thread.
    static var callingThread: LockParty { .thread(cqos_own_id()) }

    /// What it is called in reports. Reads a file for a thread: not under a lock.
    var name: String {
        switch self {
        case .thread(let id):
            let thread = ThreadID(rawValue: Int32(bitPattern: id))
            let name = try? LinuxSchedulingCalls().name(of: thread)
            return name.map { "thread '\($0)' (\(id))" } ?? "\(thread)"
        case .task(let task):
            return "task 0x\(String(task.rawValue, radix: 16))"
        }
    }
}

/// What can be held and waited for.
enum LockResource: Hashable, Sendable {
    /// A lock, by its address.
    case lock(UInt)
    /// The execution of a task by a thread that is blocked meanwhile.
    case execution(UInt32)
    /// Something else that a thread waits for: what that is, the registry's table of ``ThreadAwaited`` tells.
    case awaited(UInt32)
}

import CQoSShims
import QoSCore
import QoSKernel

extension LockParty {
    /// The calling thread.
    static var callingThread: LockParty { .thread(cqos_own_id()) }

    /// A task.
    static func task(_ task: TaskAddress) -> LockParty { .task(at: task.rawValue) }

    /// What it is called in reports. Reads a file for a thread: not under a lock.
    var name: String {
        guard let id = threadID else { return "task 0x\(String(word, radix: 16))" }
        let thread = ThreadID(rawValue: Int32(bitPattern: id))
        let name = try? LinuxSchedulingCalls().name(of: thread)
        return name.map { "thread '\($0)' (\(id))" } ?? "\(thread)"
    }
}

import QoSKernel
import Testing

/// The kernel's view of a thread in `/proc/self/task/<tid>/stat` (proc_pid_stat(5)).
struct ProcStat {
    let name: String
    let nice: Int
    let policy: UInt32
    let realtimePriority: Int

    init(of thread: ThreadID) throws {
        let text = try KernelFile.read("/proc/self/task/\(thread.rawValue)/stat")
        let open = try #require(text.firstIndex(of: "("))
        let close = try #require(text.lastIndex(of: ")"))
        name = String(text[text.index(after: open)..<close])
        // The first field after the name is the third of the line.
        let fields = text[text.index(close, offsetBy: 2)...].split(whereSeparator: \.isWhitespace)
        nice = try #require(Int(fields[19 - 3]))
        realtimePriority = try #require(Int(fields[40 - 3]))
        policy = try #require(UInt32(fields[41 - 3]))
    }
}

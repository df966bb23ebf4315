import CBenchShims
import Glibc

/// The process's threads as the kernel shows them (proc_pid_task(5)).
enum ThreadTable {
    /// The calling thread's id.
    static var own: pid_t { bench_thread_id() }

    /// The context switches that each thread has made, by its id; ended threads are missing.
    static func read() -> [pid_t: Int] {
        guard let folder = unsafe opendir("/proc/self/task") else { return [:] }
        defer { unsafe closedir(folder) }
        var threads: [pid_t: Int] = [:]
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            guard let id = pid_t(name), let status = text("/proc/self/task/\(name)/status") else { continue }
            threads[id] = status.split(separator: "\n")
                .filter { $0.contains("ctxt_switches:") }
                .compactMap { $0.split(separator: "\t").last.flatMap { Int($0) } }
                .reduce(0, +)
        }
        return threads
    }

    /// The process's memory in RAM, bytes.
    static func residentBytes() -> Int {
        let pages = text("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func text(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
        return count <= 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}

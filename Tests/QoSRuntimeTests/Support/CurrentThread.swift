import Glibc
import QoSCore
import QoSKernel

@testable import QoSRuntime

/// The calling thread, as the kernel knows it.
enum CurrentThread {
    /// Its name: `/proc/thread-self/comm` (proc(5)); `unknown` if that cannot be read.
    static var name: String {
        let descriptor = unsafe open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "unknown" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return "unknown" }
        return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The kernel's id of it.
    static var id: ThreadID { .current }

    /// The class in whose pool it is a worker; `nil` for a thread that is none. Not by its name, which threads that a
    /// worker starts inherit: those of the process's default executor, for one.
    static var qosClass: QoSClass? {
        guard let worker = Worker.current else { return nil }
        return worker.qosClass
    }
}

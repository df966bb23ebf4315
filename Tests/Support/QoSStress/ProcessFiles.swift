import Glibc

/// The kernel's view of this process.
enum ProcessFiles {
    /// A file's text without its last newline; empty when it cannot be read.
    static func text(_ path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    /// The names in a folder.
    static func entries(_ path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// Resident memory, KiB.
    static func residentKiB() -> Int {
        let pages = text("/proc/self/statm").split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024
    }

    /// Returns the number of open descriptors, without this look's own.
    static func descriptors() -> Int { entries("/proc/self/fd").count - 1 }

    /// Returns the number of threads of schedulers, by the beginning of their names.
    static func schedulerThreads() -> Int {
        entries("/proc/self/task").count { thread in
            let name = text("/proc/self/task/\(thread)/comm")
            // The process keeps those that make threads and processes for others.
            return name.hasPrefix("qos-") && !name.hasPrefix("qos-creator") && !name.hasPrefix("qos-spawner")
        }
    }
}

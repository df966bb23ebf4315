internal import Glibc
package import QoSCore

/// Reads the timers of a process, and the limits that it has reached, from the page that its runtime shows
/// (``TimerTally``).
package struct TimerTallyReader {
    private let folder: String
    private let id: Int32

    /// - Parameters:
    ///   - process: the name of the process in `/proc`: its id, or `self`.
    ///   - id: the id, for messages.
    package init(process: String, id: Int32, root: FileRoot) {
        folder = root.appending("/proc/\(process)/fd")
        self.id = id
    }

    /// What a page shows.
    package struct Page {
        package var timers: [EnergySnapshot.Timers] = []
        /// The numbers of the limits.
        package var limits: [Int] = []
        package var problem: String?
    }

    /// Reads the page.
    ///
    /// - Returns: nothing, and the reason, for a process of another user or without the runtime.
    package func read() -> Page {
        let names: [String]
        do throws(KernelError) {
            names = try SensorFile.names(in: folder)
        } catch {
            return Page(problem: "the timers of process \(id) cannot be read: run as its user or as root")
        }
        for name in names where isPage("\(folder)/\(name)") {
            if let page = page(at: "\(folder)/\(name)") { return page }
        }
        return Page(
            problem: "process \(id) shows no timers: it has used none of swift-qos, or may not make shared memory")
    }

    private func isPage(_ path: String) -> Bool {
        var target = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink(path, &target, target.count)
        guard count > 0 else { return false }
        let bytes = target.prefix(count).map { UInt8(bitPattern: $0) }
        // Not anywhere in the path: a process may have opened a file of that name, on a file system of its own. The slash
        // is missing in a made tree.
        let name = String(decoding: bytes, as: UTF8.self)
        return ["/memfd:", "memfd:"].contains { name.hasPrefix($0 + TimerTally.pageName) }
    }

    private func page(at path: String) -> Page? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // One word more, so that a longer file is none of ours.
        var words = [UInt64](repeating: 0, count: TimerTally.size / MemoryLayout<UInt64>.stride + 1)
        let count = unsafe pread(descriptor, &words, words.count * MemoryLayout<UInt64>.stride, 0)
        guard count == TimerTally.size else { return nil }
        let numbers = Array(words.dropLast())
        return TimerTally.timers(numbers).map { Page(timers: $0, limits: TimerTally.limits(numbers)) }
    }
}

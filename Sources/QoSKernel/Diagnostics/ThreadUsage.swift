internal import Glibc

/// A thread of any process: its state, its processor time, and the time in which it waited for a processor. Needs no
/// rights, unless `/proc` hides the process.
package struct ThreadUsage: Sendable, Hashable {
    /// The id by which the reader knows the thread.
    package let id: Int32
    package let name: String
    /// The letter of the state: R runs or waits for a processor, S and D sleep, T is stopped (proc_pid_stat(5)).
    package let state: String
    /// In nanoseconds.
    package let ran: UInt64
    /// The time in which it was runnable and had no processor, in nanoseconds; `nil` if the kernel does not count.
    package let waited: UInt64?

    package init(id: Int32, name: String, state: String, ran: UInt64, waited: UInt64?) {
        (self.id, self.name, self.state, self.ran, self.waited) = (id, name, state, ran, waited)
    }

    /// Reads all threads of a process, by the ids that they have for the process itself: in a container, the threads
    /// have others outside. A thread that ends meanwhile is left out.
    ///
    /// - Parameter process: its name in `/proc`: its id, or `self`.
    package static func all(of process: String, root: FileRoot = .real) -> [Int32: ThreadUsage] {
        let folder = root.appending("/proc/\(process)/task")
        let names = (try? SensorFile.names(in: folder)) ?? []
        // Only then there is one more file to read for each thread.
        let hasOtherIDs = ids(in: root.appending("/proc/\(process)")).count > 1
        let found = names.compactMap { name -> (Int32, ThreadUsage)? in
            guard let id = Int32(name), let usage = read(id, "\(folder)/\(name)") else { return nil }
            let own = hasOtherIDs ? ids(in: "\(folder)/\(name)").last : nil
            return (own.flatMap { Int32(exactly: $0) } ?? id, usage)
        }
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the ids of a process or a thread in all namespaces of the reader and below. The last one is its own.
    ///
    /// - Parameter folder: its folder in `/proc`.
    static func ids(in folder: String) -> [UInt64] {
        numbers("NSpid:", in: (try? SensorFile.read("\(folder)/status")) ?? "")
    }

    /// Returns the numbers of a field in the text of a `status` file.
    static func numbers(_ field: String, in status: String) -> [UInt64] {
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
        return (line ?? "").split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
    }

    private static func read(_ id: Int32, _ folder: String) -> ThreadUsage? {
        guard let stat = try? SensorFile.read("\(folder)/stat"), let open = stat.firstIndex(of: "("),
            let fields = fields(stat), fields.count > 12
        else { return nil }
        let name = stat[stat.index(after: open)..<(stat.lastIndex(of: ")") ?? open)]
        let schedule = (try? SensorFile.read("\(folder)/schedstat"))?.split(separator: " ").compactMap { UInt64($0) }
        if let schedule, schedule.count >= 2 {
            return ThreadUsage(
                id: id, name: String(name), state: String(fields[0]), ran: schedule[0], waited: schedule[1])
        }
        let (ticks, _) = (UInt64(fields[11]) ?? 0).addingReportingOverflow(UInt64(fields[12]) ?? 0)
        let (ran, _) = ticks.multipliedReportingOverflow(
            by: 1_000_000_000 / UInt64(max(1, sysconf(Int32(_SC_CLK_TCK)))))
        return ThreadUsage(id: id, name: String(name), state: String(fields[0]), ran: ran, waited: nil)
    }

    /// The start of a process, in the kernel's ticks since the boot; `nil` if there is no such process.
    package static func startOfProcess(_ process: String, root: FileRoot = .real) -> UInt64? {
        let stat = try? SensorFile.read(root.appending("/proc/\(process)/stat"))
        return stat.flatMap(fields).flatMap { $0.count > 19 ? UInt64($0[19]) : nil }
    }

    /// The fields behind the name, which may contain anything in its parentheses. The first is the state.
    private static func fields(_ stat: String) -> [Substring]? {
        guard let close = stat.lastIndex(of: ")") else { return nil }
        return stat[close...].dropFirst().split(separator: " ")
    }
}

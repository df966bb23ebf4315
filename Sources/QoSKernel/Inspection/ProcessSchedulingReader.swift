internal import Glibc
internal import QoSCore

/// Reads how the kernel schedules the threads of a running process, and the limits of that process.
///
/// It changes nothing, and the process need not be prepared for it. Every user may read their own processes. Those of
/// others are readable too, unless `/proc` hides them (`hidepid`). Any thread may call it.
package struct ProcessSchedulingReader: Sendable {
    /// One thread, as the kernel schedules it. A value is `nil` if the kernel does not show it to this user.
    package struct Thread: Sendable, Hashable {
        package let id: ThreadID
        package let name: String
        package let scheduling: Scheduling?
        package let ioPriority: IOPriority?
        package let processors: CPUSet?
        /// In nanoseconds; only a privileged user sees it.
        package let timerSlack: UInt64?
        /// Whether SIGPROF is blocked: then profilers do not see the thread.
        package let blocksProfiling: Bool
    }

    /// A limit of the process.
    package struct Limit: Sendable, Hashable {
        package let name: String
        /// `unlimited`, or a number.
        package let value: String
        /// The used part, if it is known.
        package let used: String?
        /// The file, or the resource limit.
        package let source: String
    }

    /// The facts of the process as a whole.
    package struct Process: Sendable, Hashable {
        package let id: Int32
        package let name: String
        /// The user's number.
        package let user: String
        package let threads: [Thread]
        package let confinement: Confinement
        /// The numbers of the signals that the process ignores.
        package let ignoredSignals: [Int32]
        package let quota: CPUQuota?
        package let scope: NiceScope
        package let limits: [Limit]
        package let problems: [KernelError]
    }

    private let id: Int32
    private let root: FileRoot
    private let calls: any SchedulingCalls

    /// - Parameters:
    ///   - process: the id of the process.
    ///   - root: where `proc` and `sys` are.
    ///   - calls: the seam through which threads are read.
    package init(process: Int32, root: FileRoot = .real, calls: any SchedulingCalls = LinuxSchedulingCalls()) {
        (id, self.root, self.calls) = (process, root, calls)
    }

    /// Reads the process once. A thread that ends meanwhile is left out.
    package func read() throws(EnergyReader.Problem) -> Process {
        let (status, names): (String, [String])
        do throws(KernelError) {
            status = try KernelFile.read(path("status"))
            names = try SensorFile.names(in: path("task"))
        } catch {
            throw EnergyReader.Problem(error, of: id)
        }
        let fields = Self.fields(status)
        let threads = names.compactMap { Int32($0) }.compactMap(thread)
        guard let name = fields["Name"], !threads.isEmpty else { throw .noProcess(id) }
        var problems: [KernelError] = []
        let quota = CPUQuota.limits(root: root, process: "\(id)", problems: &problems).tightest
        let user = fields["Uid"]?.split(whereSeparator: \.isWhitespace).first.map(String.init)
        return Process(
            id: id, name: name, user: user ?? "unknown", threads: threads, confinement: Confinement(status: status),
            ignoredSignals: Self.signals(fields["SigIgn"]), quota: quota,
            scope: NiceScope.current(root: root, process: id), limits: groupLimits + resourceLimits, problems: problems)
    }

    private func path(_ file: String) -> String { root.appending("/proc/\(id)/\(file)") }

    /// Reads a thread; `nil` for one that has ended.
    private func thread(_ number: Int32) -> Thread? {
        guard let status = try? KernelFile.read(path("task/\(number)/status")) else { return nil }
        let fields = Self.fields(status)
        let thread = ThreadID(rawValue: number)
        return Thread(
            id: thread, name: fields["Name"] ?? "", scheduling: try? calls.scheduling(of: thread),
            ioPriority: try? calls.ioPriority(of: thread), processors: try? calls.affinity(of: thread),
            timerSlack: try? calls.timerSlack(of: thread),
            blocksProfiling: Self.signals(fields["SigBlk"]).contains(SIGPROF))
    }

    /// The limit on threads of a control group of this process that is used up; `nil` if none is.
    package static func exhaustedGroupLimit() -> Limit? {
        ProcessSchedulingReader(process: getpid()).groupLimits.first { limit in
            guard let value = Int(limit.value), let used = limit.used.flatMap({ Int($0) }) else { return false }
            return used >= value
        }
    }

    /// The limit on threads of each control group from the process's own up to the top (cgroups(7), `pids`).
    private var groupLimits: [Limit] {
        let memberships = (try? CgroupMembership.current(of: "pids", root: root, process: "\(id)")) ?? []
        return memberships.flatMap(\.directories).compactMap { directory in
            guard let limit = try? KernelFile.read(root.appending("\(directory)/pids.max")) else { return nil }
            let used = try? KernelFile.read(root.appending("\(directory)/pids.current"))
            let value = Self.trimmed(limit)
            return Limit(
                name: "threads of the control group", value: value == "max" ? "unlimited" : value,
                used: used.map(Self.trimmed), source: "\(directory)/pids.max")
        }.filter { $0.value != "unlimited" }
    }

    /// The resource limits that matter to scheduling, from `limits` (proc_pid_limits(5)).
    private var resourceLimits: [Limit] {
        let wanted = [
            ("Max processes", "threads of the user", "RLIMIT_NPROC"), ("Max nice priority", "nice", "RLIMIT_NICE"),
            ("Max open files", "open files", "RLIMIT_NOFILE"),
        ]
        guard let text = try? KernelFile.read(path("limits")) else { return [] }
        return wanted.compactMap { title, name, source in
            guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(title) }),
                let soft = line.dropFirst(title.count).split(whereSeparator: \.isWhitespace).first
            else { return nil }
            return Limit(name: name, value: String(soft), used: nil, source: source)
        }
    }

    private static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[String(line[..<colon])] = trimmed(String(line[line.index(after: colon)...]))
        }
        return fields
    }

    /// The signals of a mask in hexadecimal digits, 1…64.
    private static func signals(_ mask: String?) -> [Int32] {
        let bits = mask.flatMap { UInt64($0, radix: 16) } ?? 0
        return (1...64).filter { bits & 1 << UInt64($0 - 1) != 0 }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(
            start.prefix(upTo: start.lastIndex { !$0.isWhitespace }.map(start.index(after:)) ?? start.startIndex))
    }
}

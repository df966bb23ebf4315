internal import Glibc
package import QoSCore

/// Reads the use of processors by the threads of a process, and the energy counters of the machine.
///
/// Any thread may call it. Two small files for each thread, and a look at each descriptor.
package struct EnergyReader: Sendable {
    /// The reasons why a process cannot be read.
    package enum Problem: Error, Sendable, Hashable {
        /// There is no such process, or it ended while it was read.
        case noProcess(Int32)
        /// The process belongs to another user, and the kernel hides it (`hidepid`).
        case forbidden(Int32)
        /// The files of `/proc` make no sense, or there are none.
        case unreadable(String)
    }

    private let root: FileRoot
    private let process: String
    private let id: Int32

    /// - Parameters:
    ///   - process: the id of the process; `nil` is the calling one.
    ///   - root: where `proc` and `sys` are.
    package init(process: Int32? = nil, root: FileRoot = .real) {
        self.root = root
        self.process = process.map { "\($0)" } ?? "self"
        id = process ?? getpid()
    }

    /// Reads all threads once. A thread that ends meanwhile is left out.
    package func read() throws(Problem) -> EnergySnapshot {
        let folder = root.appending("/proc/\(process)/task")
        let names: [String]
        do throws(KernelError) {
            names = try SensorFile.names(in: folder)
        } catch {
            throw problem(of: error)
        }
        var threads: [EnergySnapshot.Thread] = []
        for name in names {
            guard let thread = Int32(name), thread > 0 else { continue }
            do throws(KernelError) {
                if let found = try read(thread, "\(folder)/\(name)") { threads.append(found) }
            } catch {
                throw problem(of: error)
            }
        }
        guard !threads.isEmpty else { throw .noProcess(id) }
        let counters = readCounters()
        let (timers, timerProblem) = readTimers()
        return EnergySnapshot(
            nanoseconds: MonotonicClock.nanoseconds(), threads: threads, processNanoseconds: processTime(),
            counters: counters.counters, counterProblem: counters.problem, timers: timers,
            timerProblem: timerProblem)
    }

    /// The timers that the process shows, or the reason why it shows none.
    private func readTimers() -> ([EnergySnapshot.Timers], problem: String?) {
        do throws(DiagnosticsReader.Problem) {
            return (try DiagnosticsReader(process: process, id: id, root: root).counts().timers, nil)
        } catch {
            return ([], "\(error)")
        }
    }

    private func problem(of error: KernelError) -> Problem { Problem(error, of: id) }

    /// Reads a thread; `nil` for one that has ended.
    private func read(_ id: Int32, _ folder: String) throws(KernelError) -> EnergySnapshot.Thread? {
        let status: String
        do throws(KernelError) {
            status = try SensorFile.read("\(folder)/status")
        } catch {
            if error.code == ENOENT || error.code == ESRCH { return nil }
            throw error
        }
        let fields = Self.fields(status)
        guard let name = fields["Name"], let voluntary = fields["voluntary_ctxt_switches"].flatMap({ UInt64($0) }),
            let involuntary = fields["nonvoluntary_ctxt_switches"].flatMap({ UInt64($0) })
        else { throw .notSensible("\(folder)/status") }
        guard let time = try processorTime(folder) else { return nil }
        return EnergySnapshot.Thread(
            id: id, name: name, processorNanoseconds: time, voluntarySwitches: voluntary,
            involuntarySwitches: involuntary)
    }

    /// The processor time of a thread: in nanoseconds from `schedstat`, else in ticks from `stat`. `nil` for a thread
    /// that has ended.
    private func processorTime(_ folder: String) throws(KernelError) -> UInt64? {
        if let text = try? SensorFile.read("\(folder)/schedstat"),
            let time = text.split(whereSeparator: \.isWhitespace).first.flatMap({ UInt64($0) })
        {
            return time
        }
        do throws(KernelError) {
            return try Self.ticks(in: "\(folder)/stat")
        } catch {
            if error.code == ENOENT || error.code == ESRCH { return nil }
            throw error
        }
    }

    /// The processor time of the process with its ended threads, in nanoseconds.
    private func processTime() -> UInt64? {
        try? Self.ticks(in: root.appending("/proc/\(process)/stat"))
    }

    /// User and system time from a `stat` file, in nanoseconds (proc_pid_stat(5)).
    private static func ticks(in path: String) throws(KernelError) -> UInt64 {
        let text = try SensorFile.read(path)
        // The name, in parentheses, may contain anything.
        guard let close = text.lastIndex(of: ")") else { throw .notSensible(path) }
        let fields = text[close...].dropFirst().split(separator: " ")
        guard fields.count > 12, let user = UInt64(fields[11]), let system = UInt64(fields[12]) else {
            throw .notSensible(path)
        }
        let perSecond = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        let (sum, overflows) = user.addingReportingOverflow(system)
        let (time, isTooLarge) = sum.multipliedReportingOverflow(by: 1_000_000_000 / perSecond)
        guard !overflows, !isTooLarge else { throw .notSensible(path) }
        return time
    }

    private static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
            fields[String(line[..<colon])] = String(value)
        }
        return fields
    }

    // MARK: Energy counters

    /// Reads the processor's energy counters (RAPL, the kernel's `Documentation/power/powercap`).
    package func readCounters() -> (counters: [EnergySnapshot.Counter], problem: String?) {
        let folder = root.appending("/sys/class/powercap")
        let names: [String]
        do throws(KernelError) {
            names = try SensorFile.names(in: folder)
        } catch {
            return ([], "\(error)")
        }
        var counters: [EnergySnapshot.Counter] = []
        var problem: String?
        // One level: those below it are parts of it.
        for name in names where name.hasPrefix("intel-rapl:") && name.split(separator: ":").count == 2 {
            do throws(KernelError) {
                let energy = try SensorFile.number("\(folder)/\(name)/energy_uj")
                let range = try SensorFile.number("\(folder)/\(name)/max_energy_range_uj")
                guard energy >= 0, range > 0, energy <= range else { throw .notSensible("\(folder)/\(name)/energy_uj") }
                let place = (try? SensorFile.read("\(folder)/\(name)/name")) ?? name
                counters.append(.init(name: place, microjoules: UInt64(energy), range: UInt64(range)))
            } catch {
                problem = "\(error)"
            }
        }
        if counters.isEmpty, problem == nil { problem = "no energy counter in \(folder)" }
        return (counters, counters.isEmpty ? problem : nil)
    }
}

extension EnergyReader.Problem {
    /// The problem behind a failed read of a process's file.
    init(_ error: KernelError, of id: Int32) {
        switch error.code {
        case ENOENT, ESRCH: self = .noProcess(id)
        case EACCES, EPERM: self = .forbidden(id)
        default: self = .unreadable("\(error)")
        }
    }
}

extension EnergyReader.Problem: CustomStringConvertible {
    /// The problem and its remedy.
    package var description: String {
        switch self {
        case .noProcess(let id):
            "there is no process \(id), or it ended meanwhile: look for it with 'pgrep' or 'ps'"
        case .forbidden(let id):
            "process \(id) belongs to another user: run as that user or as root"
        case .unreadable(let text):
            "the files of the process cannot be read: \(text)"
        }
    }
}

import Foundation
import Glibc

/// What one run of a program cost.
struct MeasuredRun {
    /// Seconds of time, and of processor time in user and kernel mode.
    let wall: Double
    let cpu: Double
    /// The largest resident memory of one process of the run, in bytes. It is not below the one of this program.
    let memory: Int
    /// Bytes that went through the calls for reading and writing, those of pipes and sockets included.
    let read: Int
    let written: Int

    /// Runs a command to its end, and measures it with the processes that it waited for (wait4(2)).
    ///
    /// - Parameters:
    ///   - environment: Variables beside the own ones.
    ///   - output: The file for its standard output and error.
    ///   - accepts: The exit statuses of a run that counts.
    /// - Throws: ``BenchPlace/Failure`` if it cannot be started, or ends with another status.
    init(
        _ command: [String], environment: [String: String] = [:], output: String = "/dev/null",
        accepts: Set<Int32> = [0]
    ) throws {
        let start = ContinuousClock.now
        let process = try Self.start(command, environment, output)
        // The status stays, and with it the counts of /proc, until wait4 takes it.
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        wall = (ContinuousClock.now - start) / .seconds(1)
        let counts = Self.counts(process)
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        // A signal is in the lower bits.
        guard status & 0x7F == 0, accepts.contains(status >> 8) else {
            throw BenchPlace.Failure(description: "wait status \(status): \(command.joined(separator: " "))")
        }
        cpu = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        memory = usage.ru_maxrss * 1024
        read = counts["rchar"] ?? 0
        written = counts["wchar"] ?? 0
    }

    /// The largest resident memory of this program so far, in bytes.
    ///
    /// A child has its parent's memory until it becomes another program, and `ru_maxrss` counts that.
    static var ownMemory: Int {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1024
    }

    private static func start(_ command: [String], _ more: [String: String], _ output: String) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(
            &actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        unsafe posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        let variables = ProcessInfo.processInfo.environment.merging(more) { $1 }
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        var environment = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
            for index in unsafe environment.indices { unsafe free(environment[index]) }
        }
        var process: pid_t = 0
        let code = unsafe posix_spawnp(&process, command[0], &actions, nil, &arguments, &environment)
        guard code == 0 else { throw BenchPlace.Failure(description: "\(command[0]) cannot be started: errno \(code)") }
        return process
    }

    /// The counts of a process that has ended and was not waited for, proc_pid_io(5).
    private static func counts(_ process: pid_t) -> [String: Int] {
        let text = (try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)) ?? ""
        let pairs = text.split(separator: "\n").compactMap { line -> (String, Int)? in
            let parts = line.split(separator: ":")
            guard parts.count == 2, let value = Int(parts[1].dropFirst()) else { return nil }
            return (String(parts[0]), value)
        }
        return Dictionary(pairs) { $1 }
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

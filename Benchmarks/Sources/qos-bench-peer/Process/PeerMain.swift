import BenchCore
import CBenchShims
import Glibc

/// One measured process: runs one case on one executor and prints what it found as a line of JSON.
///
///     qos-bench-peer EXECUTOR BENCHMARK CASE SECONDS [unprivileged]
///
/// The words are positional because only the runner and somebody who debugs a case write them, and because a library
/// for arguments would be loaded into the process that is measured.
@main
enum PeerMain {
    /// When the executor's set-up began, monotonic nanoseconds: lazily, on the first use.
    static let startTime = bench_now()

    static func main() {
        guard let options = PeerOptions(CommandLine.arguments.dropFirst()) else {
            fail("usage: qos-bench-peer EXECUTOR BENCHMARK CASE SECONDS [unprivileged]", status: 64)
        }
        // It is read at the start of a program.
        if options.caseName["inherit"] == 1 {
            unsafe bench_restart_with("QOS_LIBRARY_THREADS", "inherit", CommandLine.unsafeArgv)
        }
        // Before privileges go: the harness's thread stands for the world outside, which does not compete with the
        // work.
        let outside = OutsideThread(isRealTime: options.hasRealTimeOutside)
        if options.isUnprivileged, geteuid() == 0 {
            let error = bench_drop_privileges()
            guard error == 0 else { fail("privileges cannot be dropped: error \(-error)", status: 1) }
        }
        bench_calibrate()
        if options.peer == .floor, let figures = FloorPrograms.run(options) {
            Output.line(figures.json)
            return
        }
        guard let workload = Workloads.make(options) else {
            fail("\(options.benchmark) has no case \(options.caseName)", status: 64)
        }
        _ = startTime
        PeerProcess.run(options, outside: outside) { stage in
            do {
                return try await workload.run(on: stage, seconds: options.seconds)
            } catch {
                fail("\(options.benchmark) \(options.caseName): \(error)", status: 1)
            }
        }
    }

    static func fail(_ message: String, status: Int32) -> Never {
        Output.note("error: \(message)")
        exit(status)
    }
}

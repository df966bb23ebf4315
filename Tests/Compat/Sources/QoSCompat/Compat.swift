import CCompat
import Glibc
import QoSCore
import QoSRuntime

/// Runs the program's own main on a thread, while the process-wide runtime has the main thread and every task.
///
/// With `QOS_COMPAT_MAIN=main` it runs on the main thread, within a job of the main actor: XCTest's waits for
/// expectations insist on that thread, and serve its queue meanwhile. Other jobs of the main actor then wait.
@_cdecl("qos_compat_run")
func runInsideRuntime() {
    _ = atexit { reportJobs() }
    if unsafe getenv("QOS_COMPAT_MAIN").map({ unsafe String(cString: $0) }) == "main" {
        QoSProcess.runOnMainActor {
            let status = qos_compat_original_main()
            if status != 0 { throw QoSProcess.ExitStatus(UInt8(truncatingIfNeeded: status)) }
        }
    }
    QoSProcess.run {
        let program = QoSThread(name: "program", stackSize: 8 << 20) { qos_compat_original_main() }
        try program.start()
        let status = try await program.value
        if status != 0 { throw QoSProcess.ExitStatus(UInt8(truncatingIfNeeded: status)) }
    }
}

/// Says how many jobs the runtime has run: a run without any shows nothing.
private func reportJobs() {
    let jobs = QoSProcess.scheduler?.snapshot.pools.reduce(0) { $0 + $1.jobsRun } ?? 0
    let line = Array("swift-qos ran \(jobs) jobs\n".utf8)
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
}

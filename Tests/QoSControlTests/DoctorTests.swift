import Foundation
import Glibc
import QoSCore
import QoSFileTestSupport
import QoSKernel
import QoSKernelTestSupport
import QoSRuntime
import Testing

@testable import qosctl

@Suite("qosctl doctor with a process", .timeLimit(.minutes(5)))
struct DoctorTests {
    /// The part of the report that the tests read.
    private struct Report: Decodable {
        struct Threads: Decodable {
            let qosClass: String?
            let names: [String]
            let policy: String
            let nice: Int?
            let processors: String
        }

        let process: Int32
        let threads: [Threads]
        let niceSpread: String
        let findings: [String]
    }

    @Test("the name of another user's process or thread sends no order to the terminal")
    func controlCharacters() {
        let text = "name: \u{1B}]0;owned\u{07}\u{9B}2J\r ä\u{7F}\n\tnext"
        #expect(StandardOutput.shown(text) == "name: ?]0;owned??2J? ä?\n\tnext")
    }

    @Test("shows a worker and a lowered thread of a running process as the kernel schedules them")
    func runningProcess() throws {
        let (isReady, isOver) = (Gate(), Gate())
        let calls = LinuxSchedulingCalls()
        let lowest = Scheduling.niceRange.upperBound
        let worker = try QoSKernel.Thread(name: "qos-bg-7") {
            try? calls.setScheduling(Scheduling(policy: .batch, nice: lowest), of: .current)
            isReady.open()
            isOver.blockThread()
        }
        isReady.blockThread()
        let (isLowered, foreignIsOver) = (Gate(), Gate())
        let foreign = try QoSKernel.Thread(name: "library") {
            try? calls.setNice(lowest, of: .current)
            isLowered.open()
            foreignIsOver.blockThread()
        }
        isLowered.blockThread()
        // As a scheduler of this process would.
        TimerTally.process.reached(limit: SchedulerLimit.standIns.number)
        let run = try ToolRun.run("doctor \(getpid()) --json", reading: \.standardOutput)
        let text = try ToolRun.run("doctor \(getpid())", reading: \.standardOutput)
        isOver.open()
        foreignIsOver.open()
        try worker.join()
        try foreign.join()
        #expect(run.status == 0 && text.status == 0)
        let report = try JSONDecoder().decode(Report.self, from: Data(run.text.utf8))
        #expect(report.process == getpid())
        let found = try #require(report.threads.first { $0.names.contains("qos-bg-7") })
        #expect(found.qosClass == "background" && found.policy == "\(SchedulingPolicy.batch)" && found.nice == lowest)
        #expect(report.findings.contains { $0.contains("lower than the main thread") && $0.contains("library") })
        let shown = DiagnosticsMapping.process != nil
        #expect(!shown || report.findings.contains { $0.contains("32 workers of a class were blocked") })
        #expect(!report.findings.contains { $0.contains("63 schedulers") })
        #expect(text.text.contains("background: qos-bg-7") && text.text.contains("nice \(lowest)"))
    }

    @Test("names a process that is not there, and refuses a number that is none")
    func noProcess() throws {
        let missing = try ToolRun.run("doctor 4194304", reading: \.standardError)
        #expect(missing.status == 1 && missing.text.contains("there is no process 4194304"))
        let negative = try ToolRun.run("doctor -- -7", reading: \.standardError)
        #expect(negative.status == 64 && negative.text.contains("no id of a process"))
    }

    @Test("reads limits, signals and the filter of a process from its files, and names what is used up")
    func files() throws {
        let folder = try TemporaryFolder("doctor")
        let status = """
            Name:\tserver
            Uid:\t1000\t1000\t1000\t1000
            SigBlk:\t0000000004000000
            SigIgn:\t0000000000001002
            CapEff:\t0000000000000000
            Seccomp:\t2
            """
        try folder.write("proc/77/status", status)
        try folder.write("proc/77/task/77/status", status)
        try folder.write("proc/77/cgroup", "8:pids:/service\n")
        try folder.write("proc/77/limits", "Limit  Soft Limit  Hard Limit  Units\nMax processes  100  200  processes\n")
        try folder.write("sys/fs/cgroup/pids/cgroup.procs", "")
        try folder.write("sys/fs/cgroup/pids/service/pids.max", "5\n")
        try folder.write("sys/fs/cgroup/pids/service/pids.current", "5\n")
        let reader = ProcessSchedulingReader(
            process: 77, root: FileRoot(folder.path), calls: SimulatedSchedulingCalls(rights: .none))
        let process = try reader.read()
        #expect(process.name == "server" && process.user == "1000")
        #expect(process.confinement == Confinement(isFiltered: true, maySetNice: false))
        #expect(process.ignoredSignals == [SIGINT, SIGPIPE])
        #expect(process.threads.map(\.blocksProfiling) == [true])
        #expect(process.limits.map(\.value) == ["5", "100"])
        let report = ProcessReport(process)
        #expect(report.findings.contains { $0.contains("5 of 5 are used") && $0.contains("pids.max") })
        #expect(report.findings.contains { $0.contains("seccomp") })
        let text = report.lines.joined(separator: "\n")
        #expect(text.contains("Interrupt (2)") && text.contains("blocks SIGPROF"))
    }
}

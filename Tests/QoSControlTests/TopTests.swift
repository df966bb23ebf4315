import Foundation
import Glibc
import QoSCore
import QoSKernelTestSupport
import QoSRuntime
import Testing

@testable import QoSKernel
@testable import qosctl

@Suite("qosctl top and postmortem", .timeLimit(.minutes(5)))
struct TopTests {
    @Test("they print what a worker of a running process does, as text and as JSON")
    func running() async throws {
        guard DiagnosticsMapping.process != nil else { return }
        let scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        let (begun, isOver) = (Gate(), Gate())
        let task = scheduler.startTask(at: .utility, name: "compaction") {
            begun.open()
            isOver.blockThread()
        }
        await begun.passed()
        let top = try ToolRun.run("top \(getpid()) --interval 0.01 --count 2", reading: \.standardOutput)
        let json = try ToolRun.run("top \(getpid()) --interval 0.01 --json", reading: \.standardOutput)
        let last = try ToolRun.run("postmortem \(getpid())", reading: \.standardOutput)
        isOver.open()
        await task.value
        try await scheduler.shutdown()
        #expect(top.status == 0 && top.text.contains("qos-ut-0") && top.text.contains("'compaction' task"))
        #expect(top.text.contains("CLASS") && top.text.components(separatedBy: "process \(getpid())").count == 3)
        let object = try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any]
        #expect(json.status == 0 && object?["process"] as? Int == Int(getpid()))
        #expect(last.status == 0 && last.text.contains("process \(getpid()), still there"))
        #expect(last.text.contains("'compaction'"))
    }

    @Test("they say what is missing, and refuse numbers that make no sense")
    func problems() throws {
        for command in ["top 4194304", "postmortem 4194304"] {
            let missing = try ToolRun.run(command, reading: \.standardError)
            #expect(missing.status == 1 && missing.text.contains("there is no process 4194304"))
        }
        let none = try ToolRun.run("postmortem /dev/null", reading: \.standardError)
        #expect(none.status == 1 && none.text.contains("/dev/null has no diagnostics"))
        for command in ["top -- -7", "top 1 --interval 0", "postmortem x --last -1"] {
            #expect(try ToolRun.run(command, reading: \.standardError).status == 64)
        }
    }

    @Test("a damaged picture is printed like any other", arguments: 1...20 as ClosedRange<UInt64>)
    func damaged(seed: UInt64) throws {
        // A generator of its own: the words need not be good, only many.
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        let pool = (0..<4093).map { index in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return index % 3 == 0 ? state >> 62 : index % 3 == 1 ? state >> 32 : state
        }
        let picture = DiagnosticsPicture { word, count in (0..<count).map { pool[(word + $0) % pool.count] } }
        let (time, threads) = (MonotonicClock.nanoseconds(), ThreadUsage.all(of: "self"))
        let reading = TopReport.Reading(time: time, picture: picture, threads: threads)
        let report = TopReport(from: reading, to: reading)
        #expect(!report.lines.isEmpty)
        #expect(!PostmortemReport(picture, last: 10, isAlive: false).lines.isEmpty)
        _ = try JSONEncoder().encode(report)
        _ = try JSONEncoder().encode(PostmortemReport(picture, last: 10, isAlive: false))
    }

    @Test("the processor time and the delay of a worker are those between the readings; a stopped process is named")
    func shares() {
        let empty = DiagnosticsPicture { _, count in [UInt64](repeating: 0, count: count) }
        func usage(_ ran: UInt64, _ waited: UInt64) -> [Int32: ThreadUsage] {
            [7: ThreadUsage(id: 7, name: "qos-ut-0", state: "T", ran: ran, waited: waited)]
        }
        let report = TopReport(
            from: .init(time: 1_000, picture: empty, threads: usage(100, 0)),
            to: .init(time: 2_000, picture: empty, threads: usage(600, 250)))
        #expect(report.isStopped && report.processors == 0.5)
        #expect(report.lines.first?.contains("STOPPED") == true && report.schedulers.isEmpty)
    }

    /// A picture of a process in a container, which has the id 1 for itself, and its worker's thread the id 5.
    private var contained: DiagnosticsPicture {
        var picture = DiagnosticsPicture { _, count in [UInt64](repeating: 0, count: count) }
        (picture.process, picture.started, picture.stringsLost) = (1, 77, 3)
        picture.schedulers = [
            DiagnosticsPicture.Scheduler(
                number: 1, isOpen: true, began: 1, processors: 2, lookedAt: 0, loopThread: 2, classes: [],
                workers: [
                    DiagnosticsPicture.Worker(
                        qosClass: .utility, index: 0, thread: 5, jobsEnded: 0, isRunning: true, seenAt: 1_500,
                        nodesStolen: 0, timesParked: 0)
                ])
        ]
        return picture
    }

    @Test("of a process in a container the ids outside are printed, and its threads are found by those inside")
    func container() throws {
        let usage = ThreadUsage(id: 4720, name: "qos-ut-0", state: "S", ran: 0, waited: nil)
        let reading = TopReport.Reading(time: 1_000, picture: contained, threads: [5: usage])
        let report = TopReport(from: reading, to: reading)
        let worker = try #require(report.schedulers.first?.workers.first)
        #expect(worker.thread == 4720 && worker.state == "sleeping")
        // Seen after the reading began: no age.
        #expect(worker.runsForSeconds == nil)
        #expect(report.lines.last == "3 labels found no room")
        let last = PostmortemReport(contained, last: 0, process: 4711, isAlive: true)
        #expect(last.lines.first?.hasPrefix("process 4711, still there") == true)
    }
}

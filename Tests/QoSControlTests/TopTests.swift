import Foundation
import Glibc
import QoSCore
import QoSKernelTestSupport
import QoSRuntime
import Testing

@testable import QoSKernel
@testable import qosctl

@Suite("qosctl top, activities and postmortem", .timeLimit(.minutes(5)))
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

    @Test("activities prints those of a running process, as text and as JSON, and postmortem with their notes")
    func activities() throws {
        guard DiagnosticsMapping.process != nil else { return }
        let (all, json, last) = try QoS.performActivity(.background, reason: "nightly export") {
            QoS.leaveBreadcrumb("export began")
            return (
                try ToolRun.run("activities \(getpid())", reading: \.standardOutput),
                try ToolRun.run("activities \(getpid()) --json", reading: \.standardOutput),
                try ToolRun.run("postmortem \(getpid())", reading: \.standardOutput)
            )
        }
        #expect(all.status == 0 && all.text.contains("'nightly export'"))
        #expect(all.text.contains("  breadcrumb 'export began'"))
        #expect(all.text.contains("ORIGINATOR") && all.text.contains("background"))
        let object = try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any]
        let listed = object?["activities"] as? [[String: Any]] ?? []
        #expect(json.status == 0 && object?["process"] as? Int == Int(getpid()))
        #expect(listed.contains { ($0["activity"] as? [String: Any])?["name"] as? String == "nightly export" })
        #expect(last.status == 0 && last.text.contains(" 'nightly export'  since "))
        #expect(last.text.contains("breadcrumb  export began"))
    }

    @Test("an activity is printed with its age, the work that began it, its originator and its last note")
    func activityRows() throws {
        var picture = contained
        picture.schedulers[0].workers[0].work = "1/ut-0#7"
        picture.activities = [
            ShownActivity(
                id: 3, name: "outer", begin: 1_000_000, level: .utility,
                work: WorkID(slot: 1, rank: QoSClass.utility.rank, worker: 0, steps: 13)),
            ShownActivity(
                id: 5, name: "inner", parent: 3, begin: 3_000_000_000, originator: .init(process: 99, activity: 12),
                work: WorkID(rawValue: 4711)),
        ]
        picture.activitiesLost = 2
        picture.events = (1...10).map {
            DiagnosticsPicture.Event(
                time: UInt64($0), kind: "message", work: "-", text: "step \($0)", activity: $0 < 10 ? 3 : nil)
        }
        let report = ActivitiesReport(picture, process: 4711, at: 2_001_000_000)
        #expect(report.activities.map(\.ageSeconds) == [2, nil])
        #expect(report.activities.map(\.beginnerIsRunning) == [true, false])
        #expect(report.activities[0].notes.map(\.text) == (2...9).map { "step \($0)" })
        #expect(
            report.lines == [
                "process 4711, 2 activities", "",
                "ID  PARENT  LEVEL    FOR    BEGUN BY          ORIGINATOR      NAME     LAST NOTE",
                "3   -       utility  2.0 s  1/ut-0#7 running  -               'outer'  message 'step 9'",
                "5   3       -        -      thread 4711       process 99 #12  'inner'  -", "",
                "2 activities found no place since the start",
            ])
        let last = PostmortemReport(picture, last: 0, isAlive: false).lines
        #expect(
            last.contains {
                $0.hasPrefix("  3 'outer'  since ") && $0.hasSuffix("utility  begun by 1/ut-0#7, which ran")
            })
        #expect(last.contains { $0.hasSuffix("  in 3  begun by thread 4711  for activity 12 of process 99") })
        #expect(last.count { $0.contains("  message  step ") } == 8)
    }

    @Test("they say what is missing, and refuse numbers that make no sense")
    func problems() throws {
        for command in ["top 4194304", "activities 4194304", "postmortem 4194304"] {
            let missing = try ToolRun.run(command, reading: \.standardError)
            #expect(missing.status == 1 && missing.text.contains("there is no process 4194304"))
        }
        let none = try ToolRun.run("postmortem /dev/null", reading: \.standardError)
        #expect(none.status == 1 && none.text.contains("/dev/null has no diagnostics"))
        for command in ["top -- -7", "activities 0", "top 1 --interval 0", "postmortem x --last -1"] {
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
        #expect(!ActivitiesReport(picture, process: 1, at: time).lines.isEmpty)
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

import Foundation
import Indexing
import QoSCore
import QoSRuntime
import QoSWorkloads
import SampleTestSupport
import Testing

@testable import qos_service

@Suite("The governor of the service", .serialized, .timeLimit(.minutes(5)))
struct GovernorTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    private func start(_ more: String...) throws -> ServiceProcess {
        try ServiceProcess(
            [world.folder.path, "--index-dir", world.directory, "--port", "0"] + more,
            errors: world.state["errors"]
        )
    }

    @Test("indexing pauses on heat with its reason, and goes on without losing a step when the machine is cool")
    func pausesAndResumes() async throws {
        let count = 3_000
        for number in 0..<count { try world.folder.write("\(number).md", "word\(number) common text") }
        let scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        let governor = try ServiceGovernor(governing: scheduler, GovernorSettings(), folders: [world.state.path])
        let index = try world.open()
        let workloads = try ServiceWorkloads(
            index: index, interval: .seconds(3_600),
            hosted: HostedWork(ServiceSettings(folder: world.folder.path, directory: world.directory)),
            store: InMemoryWorkloadStore(), on: scheduler, governor: governor, observers: [])
        let task = scheduler.startTask(at: .userInitiated) { try await workloads.run() }
        // On the scheduler's own threads: other tests may keep this task from running until the pass is over.
        await scheduler.startTask(at: .userInitiated) {
            while index.status.scanned == 0 { await Task.yield() }
            governor.monitor.overrides.thermal = .serious
            while await !isDeferred(workloads.host) { await Task.yield() }
        }.value
        let report = await workloads.report
        #expect(report.trouble == nil)
        let paused = StatusResponse(
            index.status, rate: 0, showsPaths: true, governor: governor, workloads: report)
        #expect(paused.state == .paused)
        #expect(paused.reason == "Indexing pauses and goes on by itself: heat is serious: simulated.")
        #expect(paused.conditions?.thermal.state == .serious)
        #expect(paused.decision?[.background].permission == .deferDiscretionary)
        let hidden = StatusResponse(
            index.status, rate: 0, showsPaths: false, governor: governor, workloads: report)
        #expect(hidden.reason == "Indexing pauses and goes on by itself, to spare the machine.")
        #expect(hidden.conditions == nil && hidden.decision == nil && hidden.limit == nil)
        // Requests are answered meanwhile, and the pass does nothing.
        let before = index.status
        for _ in 0..<50 {
            _ = try await scheduler.run(at: .userInitiated) { try index.search(SearchQuery("common")) }
        }
        #expect(index.status == before)
        #expect(try await workloads.host.snapshot().items.first?.obstacles == ["heat"])

        governor.monitor.overrides.thermal = nil
        while index.status.lastPass == nil { await Task.yield() }
        #expect(index.status.isComplete && index.status.counts.indexed == count)
        #expect(index.status.lastPass?.settled == count, "no file is read twice, and none is left out")
        let answer = try index.search(SearchQuery("word\(count - 1)"))
        #expect(answer.hits.map(\.path) == ["\(count - 1).md"])
        #expect(StatusResponse(index.status, rate: 0, showsPaths: true, governor: governor).state == .idle)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await scheduler.shutdown(within: .seconds(60))
        try index.close()
    }

    /// Whether the pass has given its place back because of a condition.
    private func isDeferred(_ host: WorkloadHost) async -> Bool {
        let items = try? await host.snapshot().items
        return items?.contains { $0.record.state == .deferred } ?? false
    }

    @Test("with a simulated state from the command line, the status shows conditions, decision and reasons")
    func simulated() throws {
        try world.folder.write("one.md", "text")
        let service = try start("--simulate", "thermal=serious", "--simulate", "low-power=off")
        try service.waitUntilListening()
        let status = try service.status { $0.state == "paused" }
        #expect(status.conditions?.thermal.state == "serious" && status.conditions?.thermal.reason == "simulated")
        #expect(status.decision?["background"]?.permission == "deferDiscretionary")
        #expect(status.decision?["background"]?.reasons.first == "thermal state serious: simulated")
        #expect(status.reason?.contains("heat is serious: simulated") == true && !status.complete)
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }

    @Test("a file of simulated states pauses a running service, and its removal lets the service go on")
    func followsFile() throws {
        let count = 200
        for number in 0..<count { try world.folder.write("\(number).md", "word\(number) common text") }
        try world.state.write("states", "thermal=serious\n")
        let service = try start("--simulate-from", world.state["states"])
        try service.waitUntilListening()
        let paused = try service.status { $0.state == "paused" }
        #expect(paused.conditions?.thermal.reason == "simulated" && !paused.complete)
        #expect(paused.decision?["background"]?.reasons.first == "thermal state serious: simulated")
        try FileManager.default.removeItem(atPath: world.state["states"])
        let done = try service.status { $0.complete }
        #expect(done.indexed == count && done.conditions?.thermal.state == "nominal")
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }

    @Test("switched off, nothing is limited; an unknown state is refused with examples")
    func switchedOff() throws {
        try world.folder.write("one.md", "text")
        let service = try start("--simulate", "thermal=serious", "--governor", "off")
        try service.waitUntilListening()
        let status = try service.status { $0.complete }
        #expect(status.conditions == nil && status.limit == nil)
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
        let refused = try start("--simulate", "thermal=hot").wait()
        #expect(refused.status != 0 && refused.errors.contains("such as thermal=serious"))
    }

    @Test("busy processors count only if searches are late")
    func policy() {
        var conditions = SystemConditions()
        conditions[.cpu] = Condition(.severe, because: "the indexing itself")
        #expect(ServicePolicy().decision(for: conditions).isUnlimited)
        conditions.foreground = Condition(.delayed, because: "slow")
        #expect(ServicePolicy().decision(for: conditions)[.background].duty < 1)
        conditions.foreground = Condition(.nominal, because: "in time")
        conditions[.memory] = Condition(.severe, because: "none left")
        let decision = ServicePolicy().decision(for: conditions)[.background]
        // The workloads pause by themselves; a stopped class could not end.
        #expect(decision.permission == .deferDiscretionary && decision.workers(onProcessors: 8) == 1)
    }
}

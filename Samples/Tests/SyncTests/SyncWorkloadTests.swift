import QoSCore
import QoSRuntime
import QoSWorkloads
import SampleTestSupport
import Synchronization
import Testing

@testable import Sync

@Suite("Sync as a workload")
struct SyncWorkloadTests {
    @Test("it finishes on threads, at its class, and both folders are in step")
    func finishes() async throws {
        let world = try SyncWorld()
        try world.makeZoo()
        try world.temporary.write("b/on B", "b")
        let scheduler = try QoSScheduler()
        let reports = Mutex<[SyncReport]>([])
        let workload = SyncWorkload(ended: { result in
            reports.withLock { $0 += (try? result.get()).map { [$0.report] } ?? [] }
        })
        let host = try WorkloadHost(store: InMemoryWorkloadStore(), scheduler: scheduler, workloads: [workload])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await host.run() }
            let parameters = SyncWorkload.Parameters(a: world.a, b: world.b, archive: world.archive)
            let item = try await host.submit(SyncWorkload.self, parameters, level: .background)
            #expect(try await item.outcome == .finished)
            host.stop()
            try await group.waitForAll()
        }
        #expect(reports.withLock { $0.map(\.copied) } == [11])
        #expect(world.difference() == [])
        try await scheduler.shutdown()
    }

    @Test("a run that is interrupted at any entry leaves whole files, and the next one goes on")
    func interrupted() async throws {
        struct Stop: Error {}
        let world = try SyncWorld()
        for number in 0..<30 { try world.temporary.write("a/\(number % 3)/file\(number)", "text \(number)") }
        for limit in stride(from: 1, to: 40, by: 6) {
            var entries = 0
            _ = try? await SyncRun(a: world.a, b: world.b, options: world.options).run {
                entries += 1
                if entries == limit { throw Stop() }
            }
            #expect(try world.leftovers() == [])
            for name in try world.temporary.files() where name.hasPrefix("b/") {
                #expect(try world.temporary.read(name) == world.temporary.read("a" + name.dropFirst()))
            }
        }
        #expect(try await world.sync().isInStep)
        #expect(world.difference() == [])
    }
}

import GRDB
import QoSWorkloadsTesting
import Testing

@testable import notes

@Suite("Digests")
struct DigestTests {
    @Test("a digest that a request waits for overtakes the others")
    func overtakes() throws {
        let scheduler = DeterministicScheduler(cores: 2)
        let notes = try Notes(DatabaseQueue())
        // Each digest takes a second, and background has one place: twenty of them take twenty seconds.
        let digests = Digests(notes: notes) { await scheduler.work(for: .seconds(1)) }
        var configuration = WorkloadHost.Configuration()
        configuration.clock = VirtualWorkloadClock(scheduler.clock)
        configuration.places = [.background: 1]
        let host = try WorkloadHost(
            store: InMemoryWorkloadStore(), on: scheduler, workloads: [digests], configuration: configuration)

        let (waited, all) = try scheduler.run(at: .userInitiated) {
            scheduler.startDetachedTask(at: .default) { try? await host.run() }
            var items: [WorkloadItem] = []
            for _ in 1...20 {
                let note = try await notes.add("one two\nthree")
                items.append(try await host.submit(Digests.self, .init(note: note)))
            }
            // A request waits for the last one.
            #expect(try await items[19].outcome == .finished)
            #expect(try await notes.digest(of: 20)?.words == 3)
            let elapsed = scheduler.now.offset
            for item in items { _ = try await item.waitUntilFinished(promotes: false) }
            host.stop()
            return (elapsed, scheduler.now.offset)
        }
        #expect(waited < .seconds(3))
        #expect(all > .seconds(15))
    }
}

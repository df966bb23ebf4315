import Foundation
import QoSCore
import QoSTesting
import QoSWorkloadsTesting
import Testing

@testable import QoSWorkloads

@Suite("Suspects, hangs, deferrals and upkeep of hosts")
struct SuspectTests {
    // MARK: The decision

    private let first = WorkloadLease(item: WorkloadItemID(rawValue: 1), fence: 1)
    private let second = WorkloadLease(item: WorkloadItemID(rawValue: 2), fence: 1)

    private func step(_ solitude: inout Solitude, others: Int, at seconds: Int) -> Solitude.Step {
        solitude.step(others: others, patience: .seconds(30), trial: .seconds(10), at: .seconds(seconds))
    }

    @Test("suspects begin one after the other, each alone for its trial")
    func oneByOne() {
        var solitude = Solitude()
        #expect(step(&solitude, others: 3, at: 0) == .admit)
        solitude.claimed(first, at: .zero)
        solitude.claimed(second, at: .zero)
        #expect(step(&solitude, others: 0, at: 0) == .start(first))
        #expect(step(&solitude, others: 1, at: 0) == .hold(until: .seconds(10)))
        // Its early end lets the next one begin.
        solitude.left(first)
        #expect(step(&solitude, others: 0, at: 3) == .start(second))
        #expect(step(&solitude, others: 1, at: 12) == .hold(until: .seconds(13)))
        #expect(step(&solitude, others: 1, at: 13) == .admit)
    }

    @Test("a suspect waits for the others, has them asked to stop, and begins beside them in the end")
    func patience() {
        var solitude = Solitude()
        solitude.claimed(first, at: .seconds(5))
        #expect(step(&solitude, others: 1, at: 5) == .hold(until: .seconds(35)))
        #expect(step(&solitude, others: 1, at: 35) == .askOthers(until: .seconds(65)))
        var other = solitude
        #expect(step(&other, others: 0, at: 36) == .start(first))
        #expect(step(&solitude, others: 1, at: 65) == .start(first))
    }

    @Test("a suspect that leaves before it began holds nothing up")
    func leaving() {
        var solitude = Solitude()
        solitude.claimed(first, at: .zero)
        solitude.left(first)
        #expect(step(&solitude, others: 2, at: 1) == .admit)
    }

    // MARK: Hosts

    /// Items that ran in a process which has ended.
    private func crashed(_ world: HostWorld, _ host: WorkloadHost, _ texts: [String], retry: RetryPolicy) throws {
        world.processes.end("old")
        try world.run([]) {
            for text in texts { _ = try await host.submit(Scripted.self, .init(text: text), retry: retry) }
            for _ in texts {
                _ = try await world.store.claim(
                    ClaimRequest(host: "dead", process: "old", workloads: ["scripted"]), at: world.clock.now)
            }
        }
    }

    @Test("items that were there when a process ended run one by one at first, and others only after them")
    func aloneAfterCrash() throws {
        let world = HostWorld(cores: 8)
        let spans = Collected<(String, Duration, Duration)>()
        let host = try world.host([
            Scripted { parameters, _ in
                let begin = world.clock.elapsed
                try await world.sleep(.seconds(4))
                spans.append((parameters.text, begin, world.clock.elapsed))
                return .finished
            }
        ]) { $0.places = [.background: 8] }
        try crashed(world, host, ["a", "b", "c"], retry: RetryPolicy())
        try world.run([host]) {
            for id in 1...3 {
                _ = try await host[WorkloadItemID(rawValue: Int64(id))].waitUntilFinished(promotes: false)
            }
        }
        let sorted = spans.values.sorted { $0.1 < $1.1 }
        #expect(sorted.count == 3)
        for (one, next) in zip(sorted, sorted.dropFirst()) { #expect(one.2 <= next.1, "\(one) beside \(next)") }
    }

    @Test("an item that ends its process takes no other one along the second time")
    func poison() throws {
        let world = HostWorld(cores: 8)
        let alone = Collected<Set<String>>()
        let running = Collected<String>()
        let host = try world.host([
            Scripted { parameters, context in
                running.append(parameters.text)
                // What a crash would take along now.
                if parameters.text == "poison" {
                    alone.append(Set(try await world.store.leases().map { "\($0.lease.item)" }))
                }
                try await world.sleep(.seconds(2))
                return .finished
            }
        ]) { $0.places = [.background: 8] }
        try crashed(world, host, ["poison", "long"], retry: RetryPolicy(maximumAttempts: 2))
        try world.run([host]) {
            _ = try await host[WorkloadItemID(rawValue: 2)].waitUntilFinished(promotes: false)
        }
        #expect(alone.values == [["#1"]])
        #expect(running.values == ["poison", "long"])
    }

    @Test("a suspect lets the running items save their work and go on after it")
    func makesRoom() throws {
        let world = HostWorld(cores: 8)
        let log = Collected<String>()
        let host = try world.host([
            Scripted { parameters, context in
                log.append("\(parameters.text) \(context.checkpoint?.done ?? 0)")
                guard parameters.text == "long" else { return .finished }
                for done in (context.checkpoint?.done ?? 0)..<100 {
                    try await context.breathe()
                    try await world.sleep(.seconds(1))
                    try await context.save(.init(done: done + 1))
                }
                return .finished
            }
        ])
        try world.run([host]) {
            let long = try await host.submit(Scripted.self, .init(text: "long"))
            try await world.sleep(.seconds(5))
            _ = try await lost(world, host)
            #expect(try await long.waitUntilFinished(promotes: false) == .finished)
            #expect(try await long.record?.life.finishedRuns == 1)
        }
        #expect(log.values.first == "long 0" && log.values.dropFirst().first == "suspect 0")
        #expect(log.values.count == 3 && log.values.last != "long 0")
    }

    @Test("a suspect that is cancelled while it waits to be alone ends without its work")
    func cancelledSuspect() throws {
        let world = HostWorld(cores: 8)
        let began = Collected<String>()
        let host = try world.host([
            Scripted { parameters, _ in
                began.append(parameters.text)
                try await world.sleep(.seconds(100))
                return .finished
            }
        ])
        try world.run([host]) {
            _ = try await host.submit(Scripted.self, .init(text: "long"))
            try await world.sleep(.seconds(1))
            let suspect = try await lost(world, host)
            try await world.sleep(.seconds(1))
            #expect(try await suspect.record?.state == .running)
            try await suspect.cancel(because: "test")
            #expect(try await suspect.waitUntilFinished(promotes: false) == .cancelled(because: "test"))
        }
        #expect(began.values == ["long"])
        #expect(world.clock.elapsed < .seconds(30))
    }

    /// An item of a higher class that a process had claimed, which has ended now.
    private func lost(_ world: HostWorld, _ host: WorkloadHost) async throws -> WorkloadItem {
        // Without a moment in which the host could claim it.
        let request = try WorkloadRequest(for: Scripted.self, .init(text: "suspect"), level: .utility)
        let id = try await world.store.base.insert([request], at: world.clock.now)[0].item
        _ = try await world.store.base.claim(
            ClaimRequest(host: "dead", process: "old", workloads: ["scripted"]), at: world.clock.now)
        try await world.sleep(.seconds(20))
        world.processes.end("old")
        return host[id]
    }

    // MARK: Hangs and deferrals

    @Test("an attempt without a sign of life is told, and again after twice the time; a report is a sign")
    func silence() throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted { _, context in
                try await world.sleep(.seconds(90))
                context.report(1)
                try await world.sleep(.seconds(500))
                return .finished
            }
        ]) { $0.silenceLimit = .seconds(100) }
        try world.run([host]) { _ = try await host.submit(Scripted.self, .init()).outcome }
        let told = world.events.compactMap { event -> Duration? in
            if case .attemptHangs(_, _, let time) = event { time } else { nil }
        }
        #expect(told.count == 3)
        #expect(told.first.map { $0 >= .seconds(100) && $0 < .seconds(191) } == true)
    }

    @Test("an attempt that was given up and keeps its place is told")
    func keptPlace() throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted(timeLimit: .seconds(10)) { _, context in
                if context.attemptNumber == 1 { await world.scheduler.work(for: .seconds(400)) }
                return .finished
            }
        ]) { $0.places = [.background: 1] }
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init())
            #expect(try await item.outcome == .finished)
        }
        #expect(world.events.contains { if case .attemptHangs = $0 { true } else { false } })
    }

    @Test("each deferral without a new checkpoint doubles the delay, up to an hour")
    func deferralLoop() throws {
        let world = HostWorld()
        let begins = Collected<Duration>()
        let host = try world.host([
            Scripted { _, context in
                begins.append(world.clock.elapsed)
                if begins.values.count == 5 { try await context.save(.init(done: 1)) }
                return begins.values.count < 14 ? .deferred(because: "not yet") : .finished
            }
        ])
        try world.run([host], within: .seconds(200_000)) { _ = try await host.submit(Scripted.self, .init()).outcome }
        let delays = zip(begins.values, begins.values.dropFirst()).map { ($1 - $0) / .seconds(1) }
        // The checkpoint of the fifth attempt begins the delays anew.
        #expect(delays == [60, 120, 240, 480, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
    }

    // MARK: Upkeep

    @Test("a host removes ended items after their time, dead ones later, and keeps others")
    func retention() throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted { parameters, _ in
                if parameters.text == "dead" { throw CancellationError() }
                return .finished
            }
        ]) {
            $0.retention = .seconds(2000)
            $0.deadRetention = .seconds(9000)
        }
        try world.run([host], within: .seconds(50_000)) {
            let finished = try await host.submit(Scripted.self, .init())
            let dead = try await host.submit(Scripted.self, .init(text: "dead"), retry: .never)
            let waiting = try await host.submit(Scripted.self, .init(), schedule: .after(.seconds(30_000)))
            // Something to wake the host.
            _ = try await host.submit(Scripted.self, .init(), schedule: .every(.seconds(600), tolerance: .zero))
            try await world.sleep(.seconds(7500))
            #expect(try await finished.record == nil)
            #expect(try await dead.record?.state == .dead)
            try await world.sleep(.seconds(7500))
            #expect(try await dead.record == nil)
            #expect(try await waiting.record?.state == .scheduled)
        }
    }

    @Test("an item of low relative priority runs beside a steady stream of others")
    func aging() throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted { _, _ in
                try await world.sleep(.seconds(1))
                return .finished
            }
        ]) { $0.places = [.background: 1] }
        try world.run([host], within: .seconds(5000)) {
            // More than the only place can do.
            let scheduler = world.scheduler
            let isOver = Collected<Bool>()
            scheduler.startDetachedTask(at: .default) {
                while isOver.values.isEmpty {
                    _ = try? await host.submit(Scripted.self, .init())
                    _ = try? await host.submit(Scripted.self, .init())
                    try? await world.sleep(.seconds(1))
                }
            }
            try await world.sleep(.seconds(2))
            let low = QoSLevel(.background, relativePriority: RelativePriority(clamping: -15))
            let item = try await host.submit(Scripted.self, .init(), level: low)
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            isOver.append(true)
        }
        // The stream that came before it is in front of it, at the same level.
        #expect(world.clock.elapsed > .seconds(600) && world.clock.elapsed < .seconds(2500))
    }

    @Test("a host is called by its machine and process")
    func name() {
        let name = WorkloadHost.Configuration().name
        #expect(name.hasSuffix(":\(ProcessInfo.processInfo.processIdentifier)"))
        #expect(!name.hasPrefix(":") && !name.hasPrefix("host:"))
    }

    @Test("the lanes of a snapshot count all items, and its items are the first ones")
    func lanes() throws {
        let world = HostWorld()
        let host = try world.host([])
        try world.run([]) {
            try await world.sleep(.seconds(1))
            let many = try (0..<1500).map { _ in
                try WorkloadRequest(for: Scripted.self, .init(), schedule: .after(.seconds(9999)))
            }
            _ = try await host.submit(many)
            let urgent = try (0..<700).map { _ in
                try WorkloadRequest(for: Scripted.self, .init(), level: .userInitiated)
            }
            _ = try await host.submit(urgent)
            try await world.sleep(.seconds(30))
            let snapshot = try await host.snapshot()
            #expect(snapshot.items.count == 1000 && !snapshot.isComplete)
            #expect(snapshot.lanes[.userInitiated]?.ready == 700)
            #expect(snapshot.lanes[.userInitiated]?.oldestWait == .seconds(30))
            #expect(snapshot.lanes[.background]?.scheduled == 1500)
        }
    }
}

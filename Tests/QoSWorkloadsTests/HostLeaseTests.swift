import QoSCore
import QoSTesting
import QoSWorkloads
import QoSWorkloadsTesting
import Testing

@Suite("Leases of hosts in virtual time")
struct HostLeaseTests {
    @Test("the work of a host that died begins again within one lease, from its checkpoint")
    func recovery() throws {
        let world = HostWorld()
        let begins = Collected<(Duration, Int)>()
        let host = try world.host([
            Scripted { _, context in
                begins.append((world.clock.elapsed, context.checkpoint?.done ?? 0))
                return .finished
            }
        ])
        try world.run([host]) {
            try await world.sleep(.seconds(5))
            let item = try await dead(world, host)
            #expect(try await item.outcome == .finished)
        }
        let (time, done) = try #require(begins.values.first)
        #expect(done == 3)
        #expect(time >= .seconds(35) && time <= .seconds(5 + 30 + 15))
        #expect(world.events.contains { if case .leaseReclaimed = $0 { true } else { false } })
    }

    /// An item that a process has claimed, which then died.
    private func dead(
        _ world: HostWorld, _ host: WorkloadHost, process: String? = nil, saves: Bool = true,
        retry: RetryPolicy = RetryPolicy(base: .zero, jitter: 0)
    ) async throws -> WorkloadItem {
        let request = try WorkloadRequest(for: Scripted.self, .init(), retry: retry)
        // Inserted and claimed without a moment in between at which the host could claim it.
        let id = try await world.store.base.insert([request], at: world.clock.now)[0].item
        let claim = try await world.store.base.claim(
            ClaimRequest(host: "dead", process: process, workloads: ["scripted"]), at: world.clock.now)
        let lease = try #require(claim?.lease)
        if saves { try await world.store.save(Array(#"{"done":3}"#.utf8), nil, under: lease) }
        return host[id]
    }

    /// A host whose workload notes the time and the checkpoint of each attempt.
    private func noting(_ begins: Collected<(Duration, Int)>, _ world: HostWorld) throws -> WorkloadHost {
        try world.host([
            Scripted { _, context in
                begins.append((world.clock.elapsed, context.checkpoint?.done ?? 0))
                return .finished
            }
        ])
    }

    @Test("the work of a process that has ended begins again at once when a host starts, from its checkpoint")
    func recoveryAtStart() throws {
        let world = HostWorld()
        let begins = Collected<(Duration, Int)>()
        let host = try noting(begins, world)
        world.processes.end("old")
        try world.run([]) { _ = try await dead(world, host, process: "old", retry: RetryPolicy()) }
        let start = world.clock.elapsed
        try world.run([host]) {
            let item = host[WorkloadItemID(rawValue: 1)]
            let outcome = try await item.outcome
            #expect(outcome == .finished)
            let fence = try await item.record?.life.fence
            #expect(fence == 2)
        }
        #expect(begins.values.map(\.0) == [start])
        #expect(begins.values.map(\.1) == [3])
    }

    @Test("the work of a process that ends begins again at once at a host that saw it", arguments: [true, false])
    func recoveryOfWatched(isWatchable: Bool) throws {
        let world = HostWorld()
        let begins = Collected<(Duration, Int)>()
        let host = try noting(begins, world)
        if !isWatchable { world.processes.refuseToWatch() }
        try world.run([host]) {
            try await world.sleep(.seconds(5))
            let item = try await dead(world, host, process: "old", retry: RetryPolicy())
            // Renewed for longer than a lease: the process lives.
            for second in 1...100 {
                try await world.sleep(.seconds(1))
                let lease = try #require(try await world.store.leases().first?.lease)
                if second % 10 == 0 { _ = try await world.store.renew([lease]) }
            }
            #expect(begins.values.isEmpty)
            #expect(world.processes.watched == (isWatchable ? ["old"] : []))
            world.processes.end("old")
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        let (time, done) = try #require(begins.values.first)
        #expect(done == 3)
        // Without a watch the next look finds it.
        #expect(isWatchable ? time == .seconds(105) : time > .seconds(105) && time <= .seconds(120))
        #expect(world.processes.watched.isEmpty)
    }

    @Test("a host that comes too late for an item sees the lease of the process that got it")
    func lostRace() throws {
        let world = HostWorld()
        let host = try noting(Collected(), world)
        let store = world.store
        try world.run([host]) {
            try await world.sleep(.seconds(20))
            store.onNextClaim {
                let request = ClaimRequest(host: "dead", process: "old", workloads: ["scripted"])
                _ = try await store.base.claim(request, at: world.clock.now)
            }
            let item = try await host.submit(Scripted.self, .init())
            try await world.sleep(.seconds(1))
            #expect(world.processes.watched == ["old"])
            world.processes.end("old")
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        #expect(world.clock.elapsed == .seconds(21))
    }

    @Test("an item that ends its process each time is repeated at once, then after the delays of retries, then dies")
    func poison() throws {
        let world = HostWorld()
        let host = try noting(Collected(), world)
        let store = world.store
        try world.run([]) {
            let retry = RetryPolicy(maximumAttempts: 3, base: .seconds(10), jitter: 0)
            let item = try await dead(world, host, process: "1", saves: false, retry: retry)
            for attempt in 1...3 {
                let sighting = try #require(try await store.leases().first)
                #expect(sighting.process == "\(attempt)")
                #expect(try await store.reclaim(sighting, because: .processEnded, at: world.clock.now))
                guard attempt < 3 else { break }
                let due = try #require(try await item.record?.due)
                #expect(world.clock.now.duration(to: due) == (attempt == 1 ? .zero : .seconds(20)))
                try await world.sleep(world.clock.now.duration(to: due))
                let request = ClaimRequest(host: "dead", process: "\(attempt + 1)", workloads: ["scripted"])
                #expect(try await store.claim(request, at: world.clock.now)?.record.life.attempts == attempt + 1)
            }
            #expect(try await item.record?.state == .dead)
        }
    }

    @Test("the leases of other machines, and those without a process, wait for their time")
    func unknownProcesses() throws {
        for process in ["elsewhere", nil] {
            let world = HostWorld()
            let begins = Collected<(Duration, Int)>()
            let host = try noting(begins, world)
            try world.run([]) { _ = try await dead(world, host, process: process) }
            let start = world.clock.elapsed
            try world.run([host]) { _ = try await host[WorkloadItemID(rawValue: 1)].outcome }
            let (time, _) = try #require(begins.values.first)
            #expect(time >= start + .seconds(30))
        }
    }

    @Test("a look that the store refuses is repeated, and the lease is taken back then")
    func refusedLook() throws {
        let world = HostWorld()
        let begins = Collected<(Duration, Int)>()
        let host = try noting(begins, world)
        world.processes.end("old")
        try world.run([]) { _ = try await dead(world, host, process: "old") }
        let start = world.clock.elapsed
        world.store.fail([.reclaim])
        try world.run([host]) {
            try await world.sleep(.milliseconds(100))
            world.store.fail([])
            _ = try await host[WorkloadItemID(rawValue: 1)].outcome
        }
        let (time, _) = try #require(begins.values.first)
        #expect(time > start && time <= start + .seconds(1))
    }

    @Test("a host that cannot renew stops its work before another host takes it, and the two never overlap")
    func lostStore() throws {
        let world = HostWorld()
        let spans = Collected<(String, Duration, Duration)>()
        func scripted(_ name: String) -> Scripted {
            Scripted { _, context in
                let begin = world.clock.elapsed
                defer { spans.append((name, begin, world.clock.elapsed)) }
                try await world.sleep(.seconds(40))
                return .finished
            }
        }
        // Both hosts have the same items; the first one's connection breaks.
        let broken = ForgetfulStore(sharing: world.store)
        let first = try world.host([scripted("first")], store: broken)
        let second = try world.host([scripted("second")], name: "second") { $0.places = [.background: 1] }
        try world.run([first]) {
            let item = try await first.submit(Scripted.self, .init(), retry: RetryPolicy(base: .zero, jitter: 0))
            try await world.sleep(.seconds(1))
            world.scheduler.startDetachedTask(at: .default) { try? await second.run() }
            broken.fail([.renew, .end, .claim, .save])
            #expect(try await second[item.id].waitUntilFinished(promotes: false) == .finished)
            second.stop()
        }
        let spansByHost = Dictionary(grouping: spans.values, by: \.0)
        let (a, b) = (try #require(spansByHost["first"]?.first), try #require(spansByHost["second"]?.first))
        #expect(a.2 <= b.1, "the first ended at \(a.2), the second began at \(b.1)")
        #expect(a.2 >= .seconds(20) && a.2 <= .seconds(24))
    }

    @Test("two hosts share the items of a store, each runs once")
    func twoHosts() throws {
        let world = HostWorld(cores: 4)
        let runs = Collected<String>()
        func scripted(_ name: String) -> Scripted {
            Scripted { parameters, _ in
                try await world.sleep(.seconds(1))
                runs.append("\(parameters.text)")
                return .finished
            }
        }
        let hosts = [try world.host([scripted("a")], name: "a"), try world.host([scripted("b")], name: "b")]
        try world.run(hosts) {
            var items: [WorkloadItem] = []
            for number in 0..<20 { items.append(try await hosts[0].submit(Scripted.self, .init(text: "\(number)"))) }
            for item in items { #expect(try await item.waitUntilFinished(promotes: false) == .finished) }
        }
        #expect(runs.values.count == 20)
        #expect(Set(runs.values).count == 20)
        #expect(world.clock.elapsed == .seconds(5))
    }

    @Test("a clock that is set takes no lease away, and ends no attempt")
    func clockJumps() throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted { _, context in
                for _ in 0..<100 { try await world.sleep(.seconds(1)) }
                return .finished
            }
        ])
        let other = try world.host([Scripted { _, _ in .finished }], name: "second") { $0.places = [.background: 1] }
        try world.run([host, other]) {
            let item = try await host.submit(Scripted.self, .init())
            try await world.sleep(.seconds(10))
            world.clock.setWall(by: .seconds(100_000))
            try await world.sleep(.seconds(10))
            world.clock.setWall(by: .seconds(-300_000))
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            #expect(try await item.record?.life.fence == 1)
        }
        #expect(!world.events.contains { if case .leaseLost = $0 { true } else { false } })
    }
}

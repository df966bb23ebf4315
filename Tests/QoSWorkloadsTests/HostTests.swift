import QoSCore
import QoSTesting
import QoSWorkloads
import QoSWorkloadsTesting
import Testing

@Suite("Hosts in virtual time")
struct HostTests {
    // MARK: The ordinary way

    @Test("an item runs with its parameters, keeps checkpoints, and its end is told")
    func ordinary() throws {
        let world = HostWorld()
        let seen = Collected<String>()
        let host = try world.host([
            Scripted { parameters, context in
                for done in 1...3 {
                    try await context.breathe()
                    try await context.save(.init(done: done))
                    context.report(done, of: 3, .files)
                }
                seen.append("\(parameters.text) \(context.attemptNumber) \(context.item)")
                return .finished
            }
        ])
        let record = try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init(text: "hello"))
            #expect(try await item.outcome == .finished)
            return try await item.record
        }
        #expect(seen.values == ["hello 1 #1"])
        #expect(record?.progress == WorkloadProgress(3, of: 3, .files))
        #expect(record?.life.finishedRuns == 1)
        #expect(host.runningCount == 0)
    }

    @Test("an item waits for the items that it depends on")
    func order() throws {
        let world = HostWorld()
        let seen = Collected<String>()
        let host = try world.host([
            Scripted { parameters, _ in
                seen.append(parameters.text)
                return .finished
            }
        ])
        try world.run([host]) {
            let items = try await host.submit([
                WorkloadRequest(for: Scripted.self, .init(text: "last"), dependencies: [.label("x"), .label("y")]),
                WorkloadRequest(for: Scripted.self, .init(text: "second"), dependencies: [.label("x")], label: "y"),
                WorkloadRequest(for: Scripted.self, .init(text: "first"), label: "x"),
            ])
            #expect(try await items[0].outcome == .finished)
        }
        #expect(seen.values == ["first", "second", "last"])
    }

    @Test("a class has its places, and an item more waits")
    func places() throws {
        let world = HostWorld(cores: 8)
        let counts = Collected<Int>()
        let hosts = Collected<WorkloadHost>()
        let host = try world.host([
            Scripted { _, context in
                try await world.sleep(.seconds(1))
                counts.append(hosts.values[0].runningCount)
                return .finished
            }
        ]) { $0.places = [.background: 3] }
        hosts.append(host)
        try world.run([host]) {
            var items: [WorkloadItem] = []
            for _ in 0..<9 { items.append(try await host.submit(Scripted.self, .init())) }
            for item in items { _ = try await item.waitUntilFinished(promotes: false) }
        }
        #expect(counts.values.max() == 3)
        #expect(world.clock.elapsed >= .seconds(3))
    }

    @Test("a host makes few calls of its store, however many places it has")
    func calls() throws {
        let world = HostWorld(cores: 4)
        let host = try world.host([
            Scripted { _, _ in
                try await world.sleep(.seconds(1))
                return .finished
            }
        ]) { $0.places = [.background: 16] }
        world.store.onExchanges { try await world.sleep(.milliseconds(1)) }
        try world.run([host]) {
            let requests = try (0..<160).map { _ in try WorkloadRequest(for: Scripted.self, .init()) }
            for item in try await host.submit(requests) {
                #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            }
        }
        // Ten turns of sixteen items. While the store writes one end, others come.
        #expect(world.store.count(of: .end) <= 40)
        #expect(world.store.count(of: .claim) <= 100)
    }

    @Test("the ends of items that do little come together: a turn of sixteen items is one call", arguments: [1, 2, 4])
    func endsTogether(cores: Int) throws {
        let world = HostWorld(cores: cores)
        let host = try world.host([Scripted { _, _ in .finished }]) { $0.places = [.background: 16] }
        try world.run([host]) {
            let requests = try (0..<160).map { _ in try WorkloadRequest(for: Scripted.self, .init()) }
            for item in try await host.submit(requests) {
                #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            }
        }
        #expect(world.store.count(of: .end) <= 12)
        #expect(world.clock.elapsed < .milliseconds(1))
    }

    @Test("an end does not wait for an attempt that gets no thread")
    func lateBeginning() throws {
        let world = HostWorld()
        let ends = Collected<Duration>()
        var configuration = WorkloadHost.Configuration()
        configuration.clock = world.clock
        configuration.holders = world.processes
        configuration.observer = { event in
            if case .attemptEnded = event { ends.append(world.clock.elapsed) }
        }
        let host = try WorkloadHost(
            store: world.store, on: LateScheduler(world.scheduler), workloads: [Scripted { _, _ in .finished }],
            configuration: configuration)
        try world.run([host]) {
            let requests = try ["soon", "late"].map { name in
                try WorkloadRequest(for: Scripted.self, .init(), level: name == "late" ? .background : .utility)
            }
            for item in try await host.submit(requests) { _ = try await item.waitUntilFinished(promotes: false) }
        }
        #expect(ends.values == [.milliseconds(1), .seconds(1)])
    }

    @Test("a host without a free place does not ask again and again for what is due")
    func dueWithoutPlace() throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted { _, _ in
                try await world.sleep(.seconds(100))
                return .finished
            }
        ]) { $0.places = QoSClass.allCases.reduce(into: [:]) { $0[$1] = $1 == .background ? 1 : 0 } }
        let calls = Collected<Duration>()
        world.store.onExchanges { calls.append(world.clock.elapsed) }
        try world.run([host]) {
            let first = try await host.submit(Scripted.self, .init())
            let second = try await host.submit(Scripted.self, .init(), schedule: .after(.seconds(10)))
            for item in [first, second] { _ = try await item.waitUntilFinished(promotes: false) }
        }
        #expect(calls.values.count < 60)
        #expect(world.clock.elapsed == .seconds(200))
    }

    /// A scheduler whose background workloads begin after a second.
    private struct LateScheduler: WorkloadScheduler {
        let base: DeterministicScheduler

        init(_ base: DeterministicScheduler) { self.base = base }

        func startWorkload(
            at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
        ) -> Task<Void, Never> {
            let clock = base.clock
            return base.startWorkload(at: qosClass, name: name) {
                if qosClass == .background { try? await clock.sleep(for: .seconds(1)) }
                await body()
            }
        }

        func raiseWorkload(_ task: Task<Void, Never>, to qosClass: QoSClass) {
            base.raiseWorkload(task, to: qosClass)
        }
    }

    // MARK: Failures

    @Test("an end that the store cannot write does not hold up the others, and its item is run again")
    func brokenEnd() throws {
        let world = HostWorld()
        let runs = Collected<String>()
        let host = try world.host([
            Scripted { parameters, _ in
                try await world.sleep(.seconds(1))
                runs.append(parameters.text)
                return .finished
            }
        ]) { $0.places = [.background: 8] }
        try world.run([host]) {
            let requests = try (0..<8).map { number in
                try WorkloadRequest(
                    for: Scripted.self, .init(text: "\(number)"), retry: RetryPolicy(base: .zero, jitter: 0))
            }
            let items = try await host.submit(requests)
            world.store.breakEnds(of: [items[3].id])
            for (number, item) in items.enumerated() where number != 3 {
                #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            }
            #expect(world.clock.elapsed < .seconds(20))
            try await world.sleep(.seconds(60))
            world.store.breakEnds(of: [])
            #expect(try await items[3].waitUntilFinished(promotes: false) == .finished)
        }
        #expect(runs.values.count { $0 == "3" } > 1)
        #expect(runs.values.count { $0 == "4" } == 1)
    }

    @Test("a store that fails is asked again, and the host goes on when it answers")
    func failingStore() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        try world.run([host]) {
            world.store.fail([.claim])
            let item = try await host.submit(Scripted.self, .init())
            try await world.sleep(.seconds(20))
            #expect(try await item.record?.state == .ready)
            #expect(host.storeFailure is ForgetfulStore.Unavailable)
            world.store.fail([])
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            #expect(host.storeFailure == nil)
        }
        #expect(world.events.contains { if case .storeFailed = $0 { true } else { false } })
        #expect(world.clock.elapsed <= .seconds(26))
    }

    @Test("a store that takes no end does not hold up the host's end beyond its grace", arguments: [false, true])
    func failingStoreAtEnd(isBusy: Bool) throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted { _, _ in
                if isBusy { try await world.sleep(.seconds(100)) }
                return .finished
            }
        ]) { $0.endGrace = .seconds(2) }
        let ended = Collected<Duration>()
        try world.run([]) {
            let running = world.scheduler.startDetachedTask(at: .default) { try? await host.run() }
            _ = try await host.submit(Scripted.self, .init())
            try await world.begin()
            world.store.fail([.claim, .end])
            try await world.sleep(.seconds(5))
            let begin = world.clock.elapsed
            host.stop()
            _ = await running.value
            ended.append(world.clock.elapsed - begin)
        }
        #expect(ended.values.allSatisfy { $0 <= .seconds(3) } && ended.values.count == 1, "\(ended.values)")
    }

    @Test("a workload that throws is tried again with growing delays, and then is dead with its last error")
    func throwing() throws {
        struct Broken: Error {}
        let world = HostWorld()
        let times = Collected<Duration>()
        let host = try world.host([
            Scripted { _, _ in
                times.append(world.clock.elapsed)
                throw Broken()
            }
        ])
        let record = try world.run([host]) {
            let item = try await host.submit(
                Scripted.self, .init(), retry: RetryPolicy(maximumAttempts: 3, base: .seconds(10), jitter: 0))
            #expect(try await item.outcome == .failed("Broken()"))
            return try await item.record
        }
        #expect(times.values == [.zero, .seconds(10), .seconds(30)])
        #expect(record?.state == .dead)
    }

    @Test("an attempt that hangs is cancelled at its limit; the next one begins after it")
    func hanging() throws {
        let world = HostWorld()
        let attempts = Collected<Int>()
        let host = try world.host([
            Scripted(timeLimit: .seconds(60)) { _, context in
                attempts.append(context.attemptNumber)
                if context.attemptNumber == 1 { try await world.sleep(.seconds(100_000)) }
                return .finished
            }
        ])
        let record = try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init(), retry: RetryPolicy(base: .seconds(1), jitter: 0))
            #expect(try await item.outcome == .finished)
            return try await item.record
        }
        #expect(attempts.values == [1, 2])
        #expect(world.clock.elapsed == .seconds(61))
        #expect(record?.life.lastError == nil)
    }

    @Test("an attempt that ignores its cancellation loses its lease, and what it writes is refused")
    func ignoring() throws {
        let world = HostWorld()
        let refused = Collected<String>()
        let host = try world.host([
            Scripted(timeLimit: .seconds(60)) { _, context in
                if context.attemptNumber > 1 { return .finished }
                // Virtual work cannot be cancelled.
                await world.scheduler.work(for: .seconds(200))
                do { try await context.save(.init(done: 1)) } catch { refused.append("\(error)") }
                return .finished
            }
        ])
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init(), retry: RetryPolicy(base: .seconds(1), jitter: 0))
            #expect(try await item.outcome == .finished)
            #expect(try await item.record?.checkpoint == nil)
            try await world.sleep(.seconds(300))
        }
        #expect(world.events.contains { if case .attemptAbandoned = $0 { true } else { false } })
        #expect(refused.values.count == 1 && refused.values[0].contains("lost"))
        #expect(host.runningCount == 0)
    }

    @Test("a workload that spins on the only core does not starve the heartbeat: the lease stays")
    func spinning() throws {
        let world = HostWorld(cores: 1)
        let host = try world.host([
            Scripted { _, context in
                await world.scheduler.work(for: .seconds(300))
                return .finished
            }
        ])
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init())
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            #expect(try await item.record?.life.fence == 1)
        }
        #expect(world.store.count(of: .renew) >= 20)
    }

    @Test("an item whose workload no host has waits, and says so")
    func unknownName() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        let record = try world.run([host]) {
            let item = try await host.submit([WorkloadRequest("elsewhere")])[0]
            try await world.sleep(.seconds(100))
            return try await item.record
        }
        #expect(record?.state == .ready)
        #expect(record?.life.reason.contains("elsewhere") == true)
    }

    @Test("an item whose parameters do not decode waits with the mistake, and burns no attempt and no child")
    func parameters() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        try world.run([host], within: .seconds(50_000)) {
            let request = WorkloadRequest("scripted", parameters: Array("{\"text\":7}".utf8), retry: .never)
            let items = try await host.submit([request])
            let child = try await host.submit(Scripted.self, .init(), after: items)
            try await world.sleep(.seconds(36_000))
            let record = try #require(try await items[0].record)
            #expect(record.state == .scheduled && record.life.attempts == 0)
            #expect(record.life.reason.contains("at text"))
            // The delays grow to ten minutes.
            #expect((55...75).contains(record.life.fence))
            #expect(try await child.record?.state == .blocked)
        }
        let told = world.events.count { if case .parametersUnreadable = $0 { true } else { false } }
        #expect(told >= 55)
    }

    /// The same workload in the next version of a program.
    private struct Newer: Workload {
        static let name = Scripted.name
        static let version = 2
        struct Parameters: Codable, Sendable { var texts: [String] }
        func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
            .finished
        }
    }

    @Test("in a rolling deploy the old host leaves the items of the new version alone, and the new host runs both")
    func rollingDeploy() throws {
        let world = HostWorld()
        let seen = Collected<String>()
        let old = try world.host([
            Scripted { parameters, _ in
                seen.append(parameters.text)
                return .finished
            }
        ])
        let new = try world.host([Newer()], name: "new")
        try world.run([old]) {
            let item = try await new.submit(Newer.self, .init(texts: ["x"]), retry: .never)
            let child = try await new.submit(Newer.self, .init(texts: ["y"]), after: [item])
            let mine = try await old.submit(Scripted.self, .init(text: "old"))
            #expect(try await mine.outcome == .finished)
            try await world.sleep(.seconds(1000))
            let record = try #require(try await item.record)
            #expect(record.state == .ready && record.life.fence == 0 && record.life.reason.contains("version 2"))
            let scheduler = world.scheduler
            scheduler.startDetachedTask(at: .default) { try? await new.run() }
            #expect(try await child.outcome == .finished)
            new.stop()
        }
        #expect(seen.values == ["old"])
    }

    @Test(
        "a checkpoint that does not decode is migrated, or the attempt starts again with the reason",
        arguments: [(#"{"old":1}"#, 42, false), (#"{"other":1}"#, 0, true), ("garbage", 0, true), ("", 0, true)])
    func migration(json: String, done: Int, restarts: Bool) throws {
        let world = HostWorld()
        let seen = Collected<(Int, String?, String?)>()
        let host = try world.host([
            Scripted { _, context in
                let record = try await world.store.record(of: context.item)
                seen.append((context.checkpoint?.done ?? 0, context.restartReason, record?.life.reason))
                return .finished
            }
        ])
        try world.run([]) {
            // An older version of the program has left its checkpoint.
            let item = try await host.submit(Scripted.self, .init())
            let claim = try await world.store.claim(
                ClaimRequest(host: "old", workloads: ["scripted"]), at: world.clock.now)
            let lease = try #require(claim?.lease)
            try await world.store.save(Array(json.utf8), nil, under: lease)
            _ = try await world.store.end(lease, .deferred(reason: "update", delay: nil), at: world.clock.now)
            _ = item
        }
        try world.run([host]) { _ = try await host[WorkloadItemID(rawValue: 1)].outcome }
        let (found, reason, stored) = try #require(seen.values.first)
        #expect(found == done)
        #expect((reason != nil) == restarts)
        #expect(stored?.contains("restarted") == restarts)
    }
}

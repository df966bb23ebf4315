import QoSCore
import QoSTesting
import QoSWorkloads
import QoSWorkloadsTesting
import Testing

@Suite("Control of hosts in virtual time")
struct HostControlTests {
    // MARK: Deferral

    @Test("an item whose condition does not hold waits with the reason, and begins when it holds")
    func condition() throws {
        let world = HostWorld()
        let begins = Collected<Duration>()
        let host = try world.host([
            Scripted { _, _ in
                begins.append(world.clock.elapsed)
                return .finished
            }
        ])
        world.setUnmet(["mains"])
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init(), when: [.named("mains")])
            try await world.sleep(.seconds(100))
            let record = try await item.record
            #expect(record?.state == .deferred)
            #expect(record?.life.reason == "mains is missing")
            world.setUnmet([])
            #expect(try await item.outcome == .finished)
        }
        #expect(begins.values == [.seconds(100)])
    }

    @Test("a breath waits for a short trouble, and gives the place away in a long one")
    func breathing() throws {
        let world = HostWorld()
        let breaths = Collected<(Int, Duration)>()
        let host = try world.host([
            Scripted { _, context in
                for done in (context.checkpoint?.done ?? 0)..<40 {
                    try await context.breathe()
                    breaths.append((done, world.clock.elapsed))
                    try await world.sleep(.seconds(1))
                    try await context.save(.init(done: done + 1))
                }
                return .finished
            }
        ])
        let record = try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init(), when: [.named("quiet")])
            // Less than the patience of 30 s.
            try await world.sleep(.milliseconds(5_500))
            world.setUnmet(["quiet"])
            try await world.sleep(.seconds(10))
            #expect(try await item.record?.state == .running)
            world.setUnmet([])
            try await world.sleep(.seconds(5))
            // More than the patience.
            world.setUnmet(["quiet"])
            try await world.sleep(.seconds(40))
            let deferred = try await item.record
            #expect(deferred?.state == .deferred)
            #expect(deferred?.life.reason == "quiet is missing")
            #expect(deferred?.life.attempts == 0)
            #expect(host.runningCount == 0)
            world.setUnmet([])
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            return try await item.record
        }
        #expect(breaths.values.map(\.0) == Array(0..<40))
        #expect(record?.life.fence == 2)
    }

    @Test("a paused workload stops with its checkpoint, and goes on when it is resumed")
    func pause() throws {
        let world = HostWorld()
        let done = Collected<Int>()
        let host = try world.host([counting(world, done)])
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init())
            try await world.sleep(.milliseconds(5_500))
            try await host.pause("scripted", because: "release day")
            try await world.sleep(.seconds(100))
            #expect(try await item.record?.state == .deferred)
            #expect(try await item.record?.life.reason == "release day")
            #expect(done.values == [0, 1, 2, 3, 4, 5])
            try await host.resume("scripted")
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        #expect(done.values == Array(0..<20))
    }

    /// Counts to twenty, a second each, with a checkpoint after each.
    private func counting(_ world: HostWorld, _ done: Collected<Int>) -> Scripted {
        Scripted { _, context in
            for number in (context.checkpoint?.done ?? 0)..<20 {
                try await context.breathe()
                done.append(number)
                try await world.sleep(.seconds(1))
                try await context.save(.init(done: number + 1))
            }
            return .finished
        }
    }

    @Test("a host that ends gives its work to another one, from the checkpoint and without waiting for the lease")
    func handOver() throws {
        let world = HostWorld()
        let done = Collected<Int>()
        let first = try world.host([counting(world, done)])
        let second = try world.host([counting(world, done)], name: "second")
        try world.run([first]) {
            let item = try await first.submit(Scripted.self, .init())
            try await world.sleep(.milliseconds(5_500))
            first.stop()
            world.scheduler.startDetachedTask(at: .default) { try? await second.run() }
            #expect(try await second[item.id].waitUntilFinished(promotes: false) == .finished)
            #expect(try await item.record?.life.attempts == 0)
            second.stop()
        }
        #expect(done.values == Array(0..<20))
        #expect(world.clock.elapsed < .seconds(22))
    }

    @Test("the end of a host does not wait for an attempt that does not stop; its lease is given back")
    func stubbornEnd() throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted { _, _ in
                await world.scheduler.work(for: .seconds(1000))
                return .finished
            }
        ])
        let end = Collected<Duration>()
        try world.run([], at: .default) {
            world.scheduler.startDetachedTask(at: .default) {
                try? await host.run()
                end.append(world.clock.elapsed)
            }
            let item = try await host.submit(Scripted.self, .init())
            try await world.sleep(.seconds(5))
            host.stop()
            try await world.sleep(.seconds(20))
            #expect(try await item.record?.state == .ready)
            #expect(try await world.store.leases().isEmpty)
        }
        #expect(end.values == [.seconds(15)])
    }

    @Test("a workload that asks for a delay gets it, and the attempt does not count")
    func ownDeferral() throws {
        let world = HostWorld()
        let begins = Collected<Duration>()
        let host = try world.host([
            Scripted { _, context in
                begins.append(world.clock.elapsed)
                if begins.values.count == 1 { return .deferred(because: "the server is busy") }
                if begins.values.count == 2 { return .retry(after: .seconds(7), because: "not yet") }
                return .finished
            }
        ]) { $0.deferralDelay = .seconds(60) }
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init())
            try await world.sleep(.seconds(10))
            #expect(try await item.record?.life.reason == "the server is busy")
            #expect(try await item.record?.life.attempts == 0)
            #expect(try await item.outcome == .finished)
        }
        #expect(begins.values == [.zero, .seconds(60), .seconds(67)])
    }

    // MARK: Cancelling and promoting

    @Test("a cancelled item ends with its reason, waiting or running")
    func cancel() throws {
        let world = HostWorld()
        let host = try world.host([
            Scripted { _, context in
                while true {
                    try await context.breathe()
                    try await world.sleep(.seconds(1))
                }
            }
        ]) { $0.places = [.background: 1] }
        try world.run([host]) {
            let running = try await host.submit(Scripted.self, .init())
            let waiting = try await host.submit(Scripted.self, .init())
            try await world.sleep(.seconds(5))
            try await waiting.cancel(because: "not needed")
            try await running.cancel(because: "wrong folder")
            #expect(try await waiting.outcome == .cancelled(because: "not needed"))
            #expect(try await running.outcome == .cancelled(because: "wrong folder"))
        }
        #expect(world.clock.elapsed < .seconds(7))
    }

    @Test("O8 O9 a wait raises the running item and what it depends on, and both move on as the waiter's work")
    func promotion() throws {
        let world = HostWorld(cores: 1)
        let levels = Collected<QoSClass>()
        let host = try world.host([
            Scripted { parameters, context in
                if parameters.text == "parent" {
                    while context.level.qosClass == .background { try await world.sleep(.seconds(1)) }
                }
                levels.append(context.level.qosClass)
                return .finished
            }
        ])
        try world.run([host], at: .userInitiated) {
            let parent = try await host.submit(Scripted.self, .init(text: "parent"))
            let child = try await host.submit(Scripted.self, .init(text: "child"), after: [parent])
            try await world.sleep(.seconds(10))
            #expect(try await child.outcome == .finished)
        }
        #expect(levels.values == [.userInitiated, .userInitiated])
        #expect(world.clock.elapsed < .seconds(12))
    }

    @Test("O9 a raise of a task while it waits for an item raises the item and what it depends on")
    func raisedWaiter() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        world.setUnmet(["mains"])
        try world.run([host]) {
            let parent = try await host.submit(Scripted.self, .init(), when: [.named("mains")])
            let item = try await host.submit(Scripted.self, .init(), after: [parent])
            let waiter = world.scheduler.startDetachedTask(at: .background) { try? await item.outcome }
            try await world.sleep(.seconds(1))
            #expect(try await parent.record?.level.qosClass == .background)
            waiter.escalatePriority(to: .high)
            try await world.sleep(.seconds(1))
            #expect(try await item.record?.level.qosClass == .userInitiated)
            #expect(try await parent.record?.level.qosClass == .userInitiated)
            world.setUnmet([])
            #expect(await waiter.value == .finished)
        }
    }

    @Test("a raise of a task that waits without promoting raises nothing")
    func raisedOnlooker() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        world.setUnmet(["mains"])
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init(), when: [.named("mains")])
            let waiter = world.scheduler.startDetachedTask(at: .background) {
                try? await item.waitUntilFinished(promotes: false)
            }
            try await world.sleep(.seconds(1))
            waiter.escalatePriority(to: .high)
            try await world.sleep(.seconds(1))
            #expect(try await item.record?.level.qosClass == .background)
            world.setUnmet([])
            #expect(await waiter.value == .finished)
        }
    }

    @Test("O6 a raised item overtakes ten thousand others")
    func overtaking() throws {
        let world = HostWorld()
        let order = Collected<String>()
        let host = try world.host([
            Scripted { parameters, _ in
                try await world.sleep(.seconds(1))
                order.append(parameters.text)
                return .finished
            }
        ])
        try world.run([host]) {
            let requests = try (0..<10_000).map { try WorkloadRequest(for: Scripted.self, .init(text: "\($0)")) }
            let items = try await host.submit(requests)
            try await world.sleep(.milliseconds(2_500))
            try await items[5000].raise(to: .userInitiated)
            #expect(try await items[5000].waitUntilFinished(promotes: false) == .finished)
        }
        #expect(order.values.last == "5000")
        #expect(order.values.count < 10)
        #expect(world.clock.elapsed <= .milliseconds(3_500))
    }

    // MARK: Mistakes

    @Test("two workloads of one name, a host that runs twice, and impossible settings are refused")
    func mistakes() throws {
        let world = HostWorld()
        #expect(throws: WorkloadHostError.duplicateName("scripted")) {
            try world.host([Scripted { _, _ in .finished }, Scripted { _, _ in .finished }])
        }
        #expect(throws: WorkloadHostError.self) { try world.host([]) { $0.leaseDuration = .zero } }
        #expect(throws: WorkloadHostError.self) {
            try world.host([]) { $0.places = Dictionary(uniqueKeysWithValues: QoSClass.allCases.map { ($0, 0) }) }
        }
        let host = try world.host([])
        try world.run([host]) {
            try await world.sleep(.seconds(1))
            await #expect(throws: WorkloadHostError.alreadyRun) { try await host.run() }
        }
    }
}

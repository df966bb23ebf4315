import QoSCore
import QoSTesting
import QoSWorkloads
import QoSWorkloadsTesting
import Testing

@Suite("Conditions of time in virtual time")
struct TimeConditionTests {
    /// A workload that notes when it begins.
    private func noting(_ begins: Collected<Duration>, _ world: HostWorld) -> Scripted {
        Scripted { _, _ in
            begins.append(world.clock.elapsed)
            return .finished
        }
    }

    @Test("an item waits for its window of time with the reason, and the host wakes at the window alone")
    func window() throws {
        let world = HostWorld()
        let begins = Collected<Duration>()
        // The world begins on 15 January 2027 at 08:00 UTC.
        let host = try world.host([noting(begins, world)]) { $0.clockCheckInterval = .seconds(1_000_000) }
        try world.run([host], within: .seconds(1_000_000)) {
            let night = try WorkloadCondition.timeWindow(from: "22:00", to: "06:00")
            let item = try await host.submit(Scripted.self, .init(), when: [night])
            try await world.sleep(.seconds(10))
            let record = try await item.record
            #expect(record?.state == .deferred)
            #expect(
                record?.life.reason
                    == "the time is outside of 22:00 to 06:00 (UTC); it opens at 2027-01-15 22:00:00Z")
            let claims = world.store.count(of: .claim)
            try await world.sleep(.seconds(40_000))
            #expect(world.store.count(of: .claim) == claims)
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        #expect(begins.values == [.seconds(14 * 3600)])
    }

    @Test("the end of its window stops a running item, which goes on in the next one")
    func windowCloses() throws {
        let world = HostWorld()
        let steps = Collected<Duration>()
        let host = try world.host([
            Scripted { _, context in
                for done in (context.checkpoint?.done ?? 0)..<3 {
                    try await context.breathe()
                    steps.append(world.clock.elapsed)
                    try await world.sleep(.seconds(3000))
                    try await context.save(.init(done: done + 1))
                }
                return .finished
            }
        ])
        try world.run([host], within: .seconds(1_000_000)) {
            let hour = try WorkloadCondition.timeWindow(from: "08:00", to: "09:00")
            let item = try await host.submit(Scripted.self, .init(), when: [hour])
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        #expect(steps.values == [.zero, .seconds(3000), .seconds(24 * 3600)])
    }

    @Test("a wall clock that is set forward into the window is found at the next look at it")
    func clockSetForward() throws {
        let world = HostWorld()
        let begins = Collected<Duration>()
        let host = try world.host([noting(begins, world)])
        try world.run([host], within: .seconds(1_000_000)) {
            let night = try WorkloadCondition.timeWindow(from: "22:00", to: "06:00")
            let item = try await host.submit(Scripted.self, .init(), when: [night])
            try await world.sleep(.seconds(10))
            world.clock.setWall(by: .seconds(15 * 3600))
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        #expect(begins.values.count == 1)
        #expect(world.clock.elapsed <= .seconds(610))
    }

    @Test("an item waits until the machine has been idle for long enough, and unrest begins the wait again")
    func idle() throws {
        let world = HostWorld()
        let begins = Collected<Duration>()
        let host = try world.host([noting(begins, world)])
        world.setUnmet(["requests"])
        try world.run([host], within: .seconds(1_000_000)) {
            let item = try await host.submit(Scripted.self, .init(), when: [.idle(for: .seconds(300))])
            try await world.sleep(.seconds(100))
            #expect(try await item.record?.life.reason == "the machine is not idle: requests is missing")
            world.setUnmet([])
            try await world.sleep(.seconds(100))
            let reason = try await item.record?.life.reason
            #expect(
                reason == "the machine is idle since 2027-01-15 08:01:40Z, and not for 300.0 seconds yet")
            world.setUnmet(["cpu"])
            try await world.sleep(.seconds(100))
            world.setUnmet([])
            let claims = world.store.count(of: .claim)
            try await world.sleep(.seconds(290))
            #expect(world.store.count(of: .claim) <= claims + 1)
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        #expect(begins.values == [.seconds(600)])
    }

    @Test("work that begins elsewhere pauses an item that wants an idle machine")
    func idleEnds() throws {
        let world = HostWorld()
        let steps = Collected<Duration>()
        let host = try world.host([
            Scripted { _, context in
                for _ in 0..<10 {
                    try await context.breathe()
                    steps.append(world.clock.elapsed)
                    try await world.sleep(.seconds(1))
                }
                return .finished
            }
        ])
        try world.run([host], within: .seconds(1_000_000)) {
            let item = try await host.submit(Scripted.self, .init(), when: [.idle(for: .seconds(10))])
            try await world.sleep(.milliseconds(15_500))
            world.setUnmet(["io"])
            try await world.sleep(.milliseconds(500))
            let before = steps.values.count
            try await world.sleep(.seconds(8))
            #expect(steps.values.count == before)
            world.setUnmet([])
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        #expect(steps.values.filter { $0 < .seconds(20) }.count == 6)
        #expect(steps.values.first { $0 > .seconds(20) } == .seconds(34))
    }

    @Test("impossible conditions of time are refused at the insertion")
    func refused() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        try world.run([host], within: .seconds(1_000_000)) {
            await #expect(throws: WorkloadStoreError.schedule(.invalidIdleTime(.zero))) {
                _ = try await host.submit(Scripted.self, .init(), when: [.idle(for: .zero)])
            }
        }
    }

    @Test("an idle host begins a delayed item in time that came later, from itself or from another host")
    func delayedItem() throws {
        let world = HostWorld()
        let begins = Collected<Duration>()
        let host = try world.host([noting(begins, world)])
        let other = try world.host([])
        try world.run([host], within: .seconds(1_000_000)) {
            try await world.sleep(.seconds(10))
            _ = try await host.submit(Scripted.self, .init(), schedule: .after(.seconds(100)))
            try await world.sleep(.seconds(10))
            _ = try await other.submit(Scripted.self, .init(), schedule: .after(.seconds(30)))
            try await world.sleep(.seconds(1000))
        }
        #expect(begins.values == [.seconds(50), .seconds(110)])
    }

    @Test("a host without anything that waits for a clock does not wake at all")
    func noWakes() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        try world.run([host], within: .seconds(1_000_000)) {
            _ = try await host.submit(Scripted.self, .init(), when: [.named("mains")])
            world.setUnmet(["mains"])
            try await world.sleep(.seconds(10))
            let claims = world.store.count(of: .claim)
            try await world.sleep(.seconds(100_000))
            #expect(world.store.count(of: .claim) == claims)
        }
    }
}

import QoSCore
import QoSTesting
import QoSWorkloads
import QoSWorkloadsTesting
import Testing

@Suite("Hosts and time, in virtual time")
struct HostTimeTests {
    @Test("run now starts an item before its time")
    func runNow() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        try world.run([host]) {
            let item = try await host.submit(Scripted.self, .init(), schedule: .after(.seconds(1000)))
            try await world.sleep(.seconds(1))
            try await item.runNow()
            #expect(try await item.outcome == .finished)
        }
        #expect(world.clock.elapsed == .seconds(1))
    }

    @Test("S5 a repeating item runs once in each interval, also over clocks that are set")
    func repeating() throws {
        let world = HostWorld()
        let runs = Collected<Duration>()
        let host = try world.host([
            Scripted { _, _ in
                runs.append(world.clock.elapsed)
                return .finished
            }
        ])
        try world.run([host]) {
            _ = try await host.submit(
                Scripted.self, .init(), schedule: .every(.seconds(100), tolerance: .seconds(10)))
            try await world.sleep(.seconds(350))
            world.clock.setWall(by: .seconds(-1_000_000))
            try await world.sleep(.seconds(1500))
        }
        #expect(runs.values.prefix(3) == [.seconds(100), .seconds(200), .seconds(300)])
        for (one, next) in zip(runs.values, runs.values.dropFirst()) {
            #expect(next - one >= .seconds(90))
            // The host looks at the wall clock every 600 s.
            #expect(next - one <= .seconds(700))
        }
    }

    @Test("a clock that is set forward is noticed within the check interval")
    func forward() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        try world.run([host]) {
            let date = world.clock.now.advanced(by: .seconds(100_000))
            let item = try await host.submit(Scripted.self, .init(), schedule: .at(date))
            try await world.sleep(.seconds(10))
            world.clock.setWall(by: .seconds(200_000))
            #expect(try await item.waitUntilFinished(promotes: false) == .finished)
        }
        #expect(world.clock.elapsed <= .seconds(1210))
    }

    @Test("ten thousand scheduled items wake the host for nothing but the check of the clock")
    func idle() throws {
        let world = HostWorld()
        let host = try world.host([Scripted { _, _ in .finished }])
        try world.run([host]) {
            let requests = try (0..<10_000).map { number in
                try WorkloadRequest(for: Scripted.self, .init(), schedule: .after(.seconds(100_000 + number)))
            }
            _ = try await host.submit(requests)
            try await world.sleep(.seconds(1))
            let before = world.store.count(of: .claim)
            try await world.sleep(.seconds(3000))
            #expect(world.store.count(of: .claim) - before <= 5)
        }
    }

    @Test("a thousand items leave no timers behind: a host and its heartbeats use one each, again and again")
    func timers() throws {
        let world = HostWorld()
        let clock = CountingClock(world.clock)
        let host = try world.host([Scripted { _, _ in .finished }]) { $0.clock = clock }
        try world.run([host]) {
            // The host watches for the time of this one.
            _ = try await host.submit(Scripted.self, .init(), schedule: .after(.seconds(3000)))
            for _ in 0..<1000 {
                let item = try await host.submit(Scripted.self, .init())
                #expect(try await item.waitUntilFinished(promotes: false) == .finished)
            }
            #expect(clock.sleeps < 10)
            try await world.sleep(.seconds(100))
            #expect(clock.sleeps < 30)
        }
    }
}

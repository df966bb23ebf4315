import QoSCore
import QoSSimulation
import QoSTesting
import Testing

@Suite("Admission as timelines", .tags(.simulation))
struct TimelineTests {
    /// Short waits and no warp, so that a run fits a line.
    private func quick() throws -> SchedulingParameters {
        let waits: [QoSClass: Int] = [.userInteractive: 0, .userInitiated: 1, .default: 2, .utility: 3, .background: 5]
        return try SchedulingParameters { qosClass throws(SchedulingParameterError) in
            try .init(worstCaseWait: .milliseconds(waits[qosClass] ?? 0), warp: .zero, quantum: .milliseconds(2))
        }
    }

    private func expect(
        _ world: SimulatedWorld, runsAs expected: String, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let run = try world.run(like: expected, judgedBy: AdmissionOracle(world))
        #expect(try run.difference(from: expected) == nil, sourceLocation: location)
    }

    @Test("C7 without contention a lower class is not restricted")
    func noContention() throws {
        let world = try SimulatedWorld(
            """
            ut: 4-----
            bg: 4-----
            """, cores: 2)
        try expect(
            world,
            runsAs: """
                ut: 1111--
                bg: 1111--
                """)
    }

    @Test("C7 under contention the higher class wins and the lower one goes on afterwards")
    func contention() throws {
        let world = try SimulatedWorld(
            """
            ui: --2-----
            bg: 4-------
            """, cores: 1)
        try expect(
            world,
            runsAs: """
                ui: --11----
                bg: 11..11--
                """)
    }

    // Due after 5 ms, when the next job of the higher class has just begun: 5 ms and one job.
    @Test("A4 a class that was kept off for its worst-case wait gets a core for its quantum")
    func starvation() throws {
        let world = try SimulatedWorld(
            """
            ui: 11111111111111
            bg: 6-------------
            """, cores: 1, parameters: quick())
        try expect(
            world,
            runsAs: """
                ui: 111111..111111
                bg: ......11......
                """)
    }

    @Test("A4 the classes between stand aside first and leave the highest one alone")
    func middleStandsAside() throws {
        let lines = """
            ui: 8---------
            df: 1111111111
            bg: 9---------
            """
        try expect(
            SimulatedWorld(lines, cores: 2, parameters: quick()),
            runsAs: """
                ui: 11111111--
                df: 1111..1122
                bg: ....11....
                """)
    }

    @Test("A3 a paused class starts nothing, and goes on when the limit is lifted")
    func paused() throws {
        let world = try SimulatedWorld(
            "bg: 11111111", cores: 2,
            besides: [
                ScriptEvent(at: 2_000_000, kind: .width(.background, 0)),
                ScriptEvent(at: 5_000_000, kind: .width(.background, .max)),
            ])
        try expect(world, runsAs: "bg: 11...111")
    }

    @Test("A6 a fence stops the competitors at their next boundary until the awaited job ends")
    func fenced() throws {
        let world = try SimulatedWorld(
            """
            df: 2-1-1-----
            bg: 4---------
            """, cores: 1, parameters: SchedulingParameters(),
            besides: [ScriptEvent(at: 500_000, kind: .fence(upTo: .default, holder: .background))])
        try expect(
            world,
            runsAs: """
                df: 11....11--
                bg: ..1111----
                """)
    }
}

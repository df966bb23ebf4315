import QoSCore
import QoSSimulation
import QoSTesting
import Testing

@Suite("Starvation and separation in virtual time", .tags(.simulation))
struct StarvationTests {
    private static let second: Int64 = 1_000_000_000
    private static let low = [QoSClass.default, .utility, .background]

    private func loop(_ qosClass: QoSClass, length: Int64, until: Int64 = second) -> ScriptEvent {
        ScriptEvent(at: 0, kind: .loop(qosClass, tasks: 8, length: length, until: until))
    }

    @Test(
        "C7 a class below two saturating ones waits for its worst-case wait and one job at most",
        arguments: [QoSClass.default, .utility, .background], [1, 2, 4])
    func waitIsBounded(_ starved: QoSClass, _ cores: Int) throws {
        let job: Int64 = 500_000
        let world = SimulatedWorld(
            cores: cores,
            script: [
                loop(.userInteractive, length: job), loop(.userInitiated, length: job), loop(starved, length: job),
            ])
        var simulation = AdmissionSimulation(world)
        try simulation.run(until: Self.second)
        // The other class that starves, userInitiated, has its window, and its workers end the jobs they are in.
        let other = SchedulingParameters()[.userInitiated].quantum.schedulerNanoseconds
        let bound = SchedulingParameters()[starved].worstCaseWait.schedulerNanoseconds
        let longest = simulation.results.longestUnserved[starved.rank]
        #expect(longest <= bound + other + Int64(cores + 1) * job)
        #expect(simulation.results.finished[starved.rank] > 0)
    }

    @Test(
        "C7 a class below one saturating one waits for its worst-case wait and one job at most", arguments: [1, 2, 8])
    func waitIsBoundedExactly(_ cores: Int) throws {
        let job: Int64 = 500_000
        for starved in QoSClass.allCases where starved != .userInteractive {
            let world = SimulatedWorld(
                cores: cores, script: [loop(.userInteractive, length: job), loop(starved, length: job)])
            var simulation = AdmissionSimulation(world)
            try simulation.run(until: Self.second)
            let parameters = SchedulingParameters()[starved]
            let longest = simulation.results.longestUnserved[starved.rank]
            #expect(longest <= parameters.worstCaseWait.schedulerNanoseconds + job + 2 * world.wakeDelay)
            let share = simulation.results.coreTime[starved.rank] * 1_000 / Self.second
            let quantum = parameters.quantum.schedulerNanoseconds
            let period = parameters.worstCaseWait.schedulerNanoseconds + quantum + 2 * job
            #expect(share >= quantum * 700 / period)
        }
    }

    @Test(
        "C7 saturating lower classes change nothing for jobs of a high class that leave a part of the cores free",
        arguments: [
            (qosClass: .userInteractive, load: 0.5), (qosClass: .userInitiated, load: 0.5),
            (qosClass: .userInitiated, load: 0.75),
        ] as [(qosClass: QoSClass, load: Double)],
        [500_000, 10_000_000] as [Int64])
    func highIsUndisturbed(_ high: (qosClass: QoSClass, load: Double), _ lowJob: Int64) throws {
        let alone = poisson(high.qosClass, load: high.load, cores: 2, seed: 7)
        let low = Self.low.map { loop($0, length: lowJob) }
        var quiet = AdmissionSimulation(
            SimulatedWorld(cores: 2, script: alone), checksInvariants: false)
        var loaded = AdmissionSimulation(
            SimulatedWorld(cores: 2, script: low + alone), checksInvariants: false)
        quiet.keepsDelays = true
        loaded.keepsDelays = true
        try quiet.run(until: Self.second)
        try loaded.run(until: Self.second)
        for quantile in [0.5, 0.99, 0.999] {
            #expect(
                loaded.results.delay(high.qosClass, quantile: quantile)
                    <= quiet.results.delay(high.qosClass, quantile: quantile) * 105 / 100)
        }
        let busy = loaded.results.coreTime.reduce(0, +)
        #expect(busy >= 2 * Self.second * 99 / 100)
    }

    @Test(
        "C7 the windows of three starving classes leave a high class that needs 0.9 of the cores its speed",
        arguments: [QoSClass.userInteractive, .userInitiated])
    func windowsAreShort(_ high: QoSClass) throws {
        let alone = poisson(high, load: 0.9, cores: 2, seed: 7)
        let low = Self.low.map { loop($0, length: 500_000) }
        var quiet = AdmissionSimulation(SimulatedWorld(cores: 2, script: alone), checksInvariants: false)
        var loaded = AdmissionSimulation(SimulatedWorld(cores: 2, script: low + alone), checksInvariants: false)
        quiet.keepsDelays = true
        loaded.keepsDelays = true
        try quiet.run(until: Self.second)
        try loaded.run(until: Self.second)
        #expect(
            loaded.results.delay(high, quantile: 0.99) <= 2 * quiet.results.delay(high, quantile: 0.99))
        for lower in Self.low {
            #expect(loaded.results.finished[lower.rank] > 0)
        }
    }

    @Test("C7 a single lower class gets every core that a loaded high class leaves")
    func residualIsUsed() throws {
        let script = [loop(.utility, length: 500_000)] + poisson(.userInteractive, load: 0.5, cores: 2, seed: 9)
        var simulation = AdmissionSimulation(SimulatedWorld(cores: 2, script: script))
        try simulation.run(until: Self.second)
        #expect(simulation.results.coreTime.reduce(0, +) >= 2 * Self.second * 99 / 100)
        // Short bursts of the high class park nobody.
        #expect(simulation.machine.counters.parks < 50)
    }

    /// Jobs of 300 µs at random times with independent gaps.
    private func poisson(_ qosClass: QoSClass, load: Double, cores: Int, seed: UInt64) -> [ScriptEvent] {
        let length: Int64 = 300_000
        // A job arrives in a slot of 10 µs with this chance: a Bernoulli process, close to Poisson.
        let slot: Int64 = 10_000
        let chance = load * Double(cores) * Double(slot) / Double(length)
        var random = SeededGenerator(seed: seed)
        return stride(from: slot, to: Self.second, by: Int(slot)).compactMap { time in
            Double.random(in: 0..<1, using: &random) < chance
                ? ScriptEvent(at: Int64(time), kind: .arrive(qosClass, length: length)) : nil
        }
    }
}

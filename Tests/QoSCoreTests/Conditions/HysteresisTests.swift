import QoSCore
import QoSTesting
import Testing

@Suite("The hysteresis")
struct HysteresisTests {
    /// Observations of one state by both thresholds, and the states after them.
    private func states(
        riseAfter: Double, fallAfter: Double, _ observed: [(Double, ThermalState)]
    ) -> [ThermalState] {
        var machine = Hysteresis(
            ThermalState.nominal, riseAfter: .seconds(riseAfter), fallAfter: .seconds(fallAfter))
        return observed.map { machine.observe(rising: $1, falling: $1, at: second($0)) }
    }

    @Test("S1 a state without a time to rise rises at once, over several steps")
    func risesAtOnce() {
        #expect(states(riseAfter: 0, fallAfter: 10, [(0, .nominal), (1, .critical)]) == [.nominal, .critical])
    }

    @Test("S4 a state with a time to rise rises when it has lasted")
    func risesLater() {
        let found = states(
            riseAfter: 2, fallAfter: 5,
            [(0, .fair), (1, .nominal), (2, .fair), (3, .fair), (3.9, .fair), (4, .fair)])
        #expect(found == [.nominal, .nominal, .nominal, .nominal, .nominal, .fair])
    }

    @Test("S4 it rises to the state that lasted, and a higher one takes its own time")
    func risesInSteps() {
        let found = states(
            riseAfter: 2, fallAfter: 5,
            [(0, .fair), (1, .serious), (2, .serious), (3, .serious), (4, .serious)])
        #expect(found == [.nominal, .nominal, .fair, .fair, .serious])
    }

    @Test("S1 it falls when the lower state has lasted, to the highest state meanwhile")
    func falls() {
        let found = states(
            riseAfter: 0, fallAfter: 10,
            [
                (0, .critical), (1, .nominal), (5, .fair), (10.9, .nominal), (11, .nominal), (20, .nominal),
                (21, .nominal),
            ])
        #expect(found == [.critical, .critical, .critical, .critical, .fair, .fair, .nominal])
    }

    @Test("S1 a state that comes back in between starts the time to fall again")
    func staysWhileItFlaps() {
        let found = states(
            riseAfter: 0, fallAfter: 3,
            [(0, .fair), (1, .nominal), (2, .fair), (3, .nominal), (5.9, .nominal), (6, .nominal)])
        #expect(found == [.fair, .fair, .fair, .fair, .fair, .nominal])
    }

    @Test("S1 between the two thresholds the state stays for ever")
    func staysInTheBand() {
        var machine = Hysteresis(ThermalState.nominal, fallAfter: .seconds(1))
        machine.observe(rising: .fair, falling: .fair, at: second(0))
        for time in 1...100 {
            #expect(machine.observe(rising: .nominal, falling: .fair, at: second(Double(time))) == .fair)
        }
    }

    @Test("S1 a lower threshold above the higher one, and a clock that goes back, do no harm")
    func oddInput() {
        var machine = Hysteresis(ThermalState.nominal, fallAfter: .seconds(2))
        #expect(machine.observe(rising: .serious, falling: .nominal, at: second(10)) == .serious)
        #expect(machine.observe(rising: .nominal, falling: .nominal, at: second(10)) == .serious)
        #expect(machine.observe(rising: .nominal, falling: .nominal, at: second(3)) == .serious)
        #expect(machine.observe(rising: .nominal, falling: .nominal, at: second(12)) == .nominal)
    }

    @Test(
        "S4 whatever comes: no fall sooner than the time to fall after the last change",
        arguments: 0..<64 as Range<UInt64>)
    func neverFlaps(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let fallAfter = Int64.random(in: 1...20, using: &random) * 1_000_000_000
        var machine = Hysteresis(
            ThermalState.nominal, riseAfter: .seconds(Int.random(in: 0...3, using: &random)),
            fallAfter: .nanoseconds(fallAfter))
        var (time, lastChange) = (Int64(0), Int64(0))
        for _ in 0..<2_000 {
            time += Int64.random(in: 0...2_000_000_000, using: &random)
            let rising = ThermalState.allCases.randomElement(using: &random) ?? .nominal
            let falling = ThermalState.allCases.filter { $0 >= rising }.randomElement(using: &random) ?? rising
            let before = machine.state
            let after = machine.observe(
                rising: rising, falling: falling, at: SchedulerInstant(nanoseconds: time))
            if after < before { #expect(time - lastChange >= fallAfter, "seed \(seed)") }
            if after != before { lastChange = time }
            #expect(after <= max(before, rising), "seed \(seed)")
        }
    }
}

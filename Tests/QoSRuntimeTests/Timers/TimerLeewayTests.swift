import QoSCore
import Testing

@Suite("The leeway of a timer without a tolerance")
struct TimerLeewayTests {
    @Test(
        "S6 is its class's: a fraction of the delay for the high ones, a bound for the low ones",
        arguments: [
            (.userInteractive, 800, 100), (.userInteractive, 1_000_000_000, 1_000_000),
            (.userInitiated, 800, 200), (.userInitiated, 1_000_000_000, 5_000_000),
            (.default, 800, 200), (.default, .max, 5_000_000),
            (.utility, 1_000_000, 4_000_000), (.utility, 18_750_000, 75_000_000), (.utility, 18_750_001, 75_000_000),
            (.background, 10_000_000, 40_000_000), (.background, .max, 75_000_000),
        ] as [(QoSClass, UInt64, UInt64)])
    func table(_ qosClass: QoSClass, _ delay: UInt64, _ tolerance: UInt64) {
        #expect(TimerLeeway.tolerance(of: qosClass, delay: delay) == tolerance)
    }

    @Test("S6 never shrinks with the delay, nor with a lower class", arguments: QoSClass.allCases)
    func monotonic(_ qosClass: QoSClass) {
        let delays: [UInt64] = [0, 1, 1_000, 1_000_000, 18_750_000, 100_000_000, 60_000_000_000, .max]
        let tolerances = delays.map { TimerLeeway.tolerance(of: qosClass, delay: $0) }
        #expect(tolerances == tolerances.sorted())
        for lower in QoSClass.allCases where lower < qosClass {
            for (delay, tolerance) in zip(delays, tolerances) {
                #expect(TimerLeeway.tolerance(of: lower, delay: delay) >= tolerance)
            }
        }
    }

    @Test("S6 is nothing for a timer that is due", arguments: QoSClass.allCases)
    func due(_ qosClass: QoSClass) {
        #expect(TimerLeeway.tolerance(of: qosClass, delay: 0) == 0)
    }
}

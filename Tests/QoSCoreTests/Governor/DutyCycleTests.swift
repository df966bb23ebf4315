import QoSCore
import Testing

@Suite("The duty cycle")
struct DutyCycleTests {
    private func instant(_ milliseconds: Int64) -> SchedulerInstant {
        SchedulerInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("S2 a quarter runs for the first quarter of each period")
    func quarter() {
        let cycle = DutyCycle(0.25)
        for start in [0, 400, 4_000_000, -400] as [Int64] {
            #expect(cycle.isRunning(at: instant(start)) && cycle.isRunning(at: instant(start + 99)))
            #expect(!cycle.isRunning(at: instant(start + 100)) && !cycle.isRunning(at: instant(start + 399)))
            #expect(cycle.nextChange(after: instant(start)) == instant(start + 100))
            #expect(cycle.nextChange(after: instant(start + 100)) == instant(start + 400))
        }
    }

    @Test(
        "S2 all and nothing never change", arguments: [(1.0, true), (7, true), (.nan, true), (0, false), (-1, false)])
    func ends(duty: Double, isRunning: Bool) {
        for time in [0, 150, 399] as [Int64] {
            #expect(DutyCycle(duty).isRunning(at: instant(time)) == isRunning)
            #expect(DutyCycle(duty).nextChange(after: instant(time)) == nil)
        }
    }
}

import QoSCore
import Testing

@testable import QoSRuntime

@Suite("The widths that a governor sets")
struct GovernedWidthsTests {
    private func decision(_ qosClass: QoSClass, _ limits: (inout ClassAllowance) -> Void) -> GovernorDecision {
        var decision = GovernorDecision()
        decision.restrict(from: qosClass, because: "test", limits)
        return decision.clamped()
    }

    @Test("S2 without limits nothing is set, so that the program's own limits stay")
    func nothing() {
        var widths = GovernedWidths()
        #expect(widths.changes(to: GovernorDecision(), processors: 4, at: second(0)).isEmpty)
        #expect(GovernedWidths.nextChange(of: GovernorDecision(), after: second(0)) == nil)
    }

    @Test("S2 a limit is set once, follows the processors, and is lifted")
    func limits() {
        var widths = GovernedWidths()
        let half = decision(.background) { $0.widths = [.share(0.5)] }
        #expect(widths.changes(to: half, processors: 4, at: second(0)) == [.init(qosClass: .background, limit: 2)])
        #expect(widths.changes(to: half, processors: 4, at: second(1)).isEmpty)
        #expect(widths.changes(to: half, processors: 8, at: second(2)) == [.init(qosClass: .background, limit: 4)])
        let none = GovernorDecision()
        #expect(widths.changes(to: none, processors: 8, at: second(3)) == [.init(qosClass: .background, limit: nil)])
    }

    @Test("S2 a duty changes between the limit and zero")
    func duty() {
        var widths = GovernedWidths()
        let quarter = decision(.background) {
            $0.widths = [.processors(1)]
            $0.duty = 0.25
        }
        #expect(
            widths.changes(to: quarter, processors: 4, at: second(0.05)) == [.init(qosClass: .background, limit: 1)])
        #expect(GovernedWidths.nextChange(of: quarter, after: second(0.05)) == second(0.1))
        #expect(widths.changes(to: quarter, processors: 4, at: second(0.1)) == [.init(qosClass: .background, limit: 0)])
        #expect(GovernedWidths.nextChange(of: quarter, after: second(0.1)) == second(0.4))
        #expect(widths.changes(to: quarter, processors: 4, at: second(0.4)) == [.init(qosClass: .background, limit: 1)])
        let stopped = decision(.background) {
            $0.permission = .stop
            $0.duty = 0.25
        }
        #expect(GovernedWidths.nextChange(of: stopped, after: second(0)) == nil, "a stopped class needs no wake-up")
    }
}

import Foundation
import QoSCore
import Testing

@Suite("The governor's decision")
struct GovernorDecisionTests {
    /// A policy that stops everything, with numbers that make no sense.
    private var hostile: GovernorDecision {
        var decision = GovernorDecision()
        decision.restrict(from: .userInteractive, because: "hostile") {
            $0.permission = .stop
            $0.widths = [.processors(-4), .share(-1), .share(.nan)]
            $0.duty = -.infinity
            $0.ioBytesPerSecond = -1
            $0.ioOperationsPerSecond = 0
        }
        return decision
    }

    @Test("S2 userInteractive runs, whatever the policy says")
    func neverStops() {
        let highest = hostile.clamped()[.userInteractive]
        #expect(highest.permission == .deferDiscretionary)
        #expect(highest.workers(onProcessors: 1) == 1 && highest.workers(onProcessors: 64) == 1)
        #expect(highest.duty == 1 && highest.ioBytesPerSecond == nil && highest.ioOperationsPerSecond == nil)
        #expect(highest.reasons == ["hostile"])
    }

    @Test("S2 other classes are stopped where the policy says so; numbers below zero are zero")
    func sanitizes() {
        let background = hostile.clamped()[.background]
        #expect(background.permission == .stop && background.workers(onProcessors: 4) == 0)
        #expect(background.duty == 0 && background.ioBytesPerSecond == 0)
        var decision = GovernorDecision()
        decision[.utility].duty = .nan
        decision[.utility].widths = [.share(.infinity), .unlimited]
        #expect(decision.clamped()[.utility].isUnlimited)
    }

    @Test(
        "S2 a width is a number or a share of the processors, rounded up",
        arguments: [
            (WidthAllowance.unlimited, 4, nil), (.processors(3), 2, 3), (.processors(0), 2, 0), (.share(0.5), 1, 1),
            (.share(0.5), 5, 3), (.share(0), 8, 0), (.share(1), 8, nil), (.share(0.01), 0, 1), (.share(.nan), 3, nil),
        ] as [(WidthAllowance, Int, Int?)])
    func widths(width: WidthAllowance, processors: Int, workers: Int?) {
        #expect(width.workers(onProcessors: processors) == workers)
    }

    @Test("S2 a limit of a class holds for those below it")
    func restrictsBelow() {
        var decision = GovernorDecision()
        decision.restrict(from: .default, because: "a") { $0.duty = 0.5 }
        decision.restrict(from: .utility, because: "b") { $0.duty = 0.75 }
        #expect(QoSClass.descending.map { decision[$0].duty } == [1, 1, 0.5, 0.5, 0.5])
        #expect(decision[.background].reasons == ["a", "b"])
        #expect(decision.description.contains("background: duty 50 % (a; b)"))
    }

    @Test("S2 the coded form has the names of the classes, and reads back")
    func coded() throws {
        let decision = hostile.clamped()
        let data = try JSONEncoder().encode(decision)
        #expect(String(decoding: data, as: UTF8.self).contains(#""userInteractive":{"#))
        #expect(try JSONDecoder().decode(GovernorDecision.self, from: data) == decision)
    }
}

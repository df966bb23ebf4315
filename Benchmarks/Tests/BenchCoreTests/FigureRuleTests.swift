import BenchCore
import Testing

@Suite struct FigureRuleTests {
    private let fast = Series(.ours, CaseName("yield"), seconds: 1)
    private let slow = Series(.defaultExecutor, CaseName("yield"), seconds: 1)

    private var runs: [Series: [RawFigures]] {
        [
            fast: [100, 300, 200].map { RawFigures(["ns": $0]) },
            slow: [400, 400, 1000].map { RawFigures(["ns": $0]) },
        ]
    }

    @Test("a ratio is that of the medians, its spread that of the pairs")
    func ratio() throws {
        let rule = FigureRule("r", .ours, .ratio(.init(fast, "ns"), .init(slow, "ns")))
        let figure = try #require(rule.evaluate(runs))
        #expect(figure.value == 0.5)
        #expect(figure.minimum == 0.2)
        #expect(figure.maximum == 0.75)
    }

    @Test("a difference is that of the medians")
    func difference() throws {
        let rule = FigureRule("d", .ours, .difference(.init(slow, "ns"), .init(fast, "ns")))
        #expect(try #require(rule.evaluate(runs)).value == 200)
    }

    @Test("runs above a multiple of the other's median are counted, and their spread is that of the ratios")
    func runsAbove() throws {
        let rule = FigureRule("b", .defaultExecutor, .runsAbove(3, .init(slow, "ns"), .init(fast, "ns")), .atMost(0))
        let figure = try #require(rule.evaluate(runs))
        #expect(figure == Figure(value: 1, minimum: 2, maximum: 5))
    }

    @Test("a figure that no run gave is missing and not zero")
    func missing() {
        #expect(FigureRule("m", .ours, .value(.init(fast, "other"))).evaluate(runs) == nil)
        #expect(FigureRule("m", .ours, .value(.init(fast, "ns"))).evaluate([:]) == nil)
    }

    @Test("targets include their bound", arguments: [(Target.atMost(1), 1.0, 1.01), (.atLeast(1), 1, 0.99)])
    func targets(target: Target, good: Double, bad: Double) {
        #expect(target.isMet(by: good))
        #expect(!target.isMet(by: bad))
    }
}

import Testing

@testable import BenchCore

@Suite struct LineChartTests {
    @Test(
        "labels keep their distance and stay on the picture",
        arguments: [([10, 12, 13], [10, 25, 40]), ([80, 95, 99], [70, 85, 100]), ([10, 90], [10, 90]), ([], [])]
            as [([Double], [Double])])
    func spread(places: [Double], expected: [Double]) {
        #expect(LineChart.spread(places, apart: 15, within: 0...100) == expected)
    }

    @Test("each line is drawn once in its panel, with its name, and text is escaped")
    func lines() {
        let line = LineChart.Line(name: "a < b", style: .init("#123456"), points: [(0.25, 300), (0.5, 40_000)])
        let svg = LineChart(title: "t", xLabel: "x", panels: [.init(title: "p", lines: [line])]).svg
        #expect(svg.components(separatedBy: "<polyline").count == 2)
        #expect(svg.contains(">a &lt; b</text>"))
        // From 100 µs to 100 ms.
        #expect(svg.contains(">100 µs</text>"))
        #expect(svg.contains(">100 ms</text>"))
        #expect(!svg.contains(">1 s</text>"))
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}

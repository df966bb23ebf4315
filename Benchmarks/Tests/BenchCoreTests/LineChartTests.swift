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
        let axis = LineChart.XAxis(label: "x", end: 1, ticks: [0, 1])
        let svg = LineChart(title: "t", xAxis: axis, panels: [.init(title: "p", lines: [line])]).svg
        #expect(svg.components(separatedBy: "<polyline").count == 2)
        #expect(svg.contains(">a &lt; b</text>"))
        // From 100 µs to 100 ms.
        #expect(svg.contains(">100 µs</text>"))
        #expect(svg.contains(">100 ms</text>"))
        #expect(!svg.contains(">1 s</text>"))
    }

    @Test("a panel with a linear axis begins at 0, and a band of the x axis is drawn and named")
    func linear() {
        let line = LineChart.Line(name: "a", style: .init("#123456"), points: [(0, 0), (10, 2)])
        let axis = LineChart.XAxis(label: "x", end: 10, ticks: [0, 10], band: (2...6, "others run"))
        let svg = LineChart(
            title: "t", xAxis: axis, panels: [.init(title: "p", yAxis: .linear(end: 2), lines: [line])]
        ).svg
        // From the lower left corner of the panel to the upper right one.
        #expect(svg.contains("points=\"66,432 396,72\""))
        #expect(svg.contains("x=\"132\" y=\"72\" width=\"132\""))
        #expect(svg.contains(">others run</text>"))
        #expect(svg.contains(">0.5</text>"))
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}

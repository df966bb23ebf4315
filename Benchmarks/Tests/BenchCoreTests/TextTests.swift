import BenchCore
import Testing

@Suite struct TextTests {
    @Test(
        "numbers are written with three digits that say something",
        arguments: [
            (0.0, "0"), (0.0123, "0.0123"), (0.5, "0.500"), (0.99996, "1.00"), (1.234, "1.23"), (9.996, "10.0"),
            (12.34, "12.3"), (99.96, "100"), (1234.5, "1235"), (-1.5, "-1.50"), (0.05, "0.0500"),
        ])
    func rounded(value: Double, expected: String) {
        #expect(Numerals.rounded(value) == expected)
    }

    @Test("a case's text form reads back", arguments: ["yield", "loaded,rho=0.5,low=10", "wake,gap=300"])
    func caseNames(text: String) throws {
        let name = try #require(CaseName(text: text))
        #expect(name.description == text)
    }

    @Test("a parameter without a number is refused", arguments: ["a,b", "a,b=", "a,b=x", "a,"])
    func badCaseNames(text: String) {
        #expect(CaseName(text: text) == nil)
    }

    @Test("a result is one line of JSON, with null where there is no target")
    func json() {
        let figure = Figure(value: 0.5, minimum: 0.25, maximum: 1)
        let judged = ResultLine(
            benchmark: "B1", caseName: "rho=0.5,root", metric: "p99_over_alone", figure: figure, target: .atMost(1.15))
        #expect(
            judged.json == """
                {"benchmark":"B1","case":"rho=0.5,root","metric":"p99_over_alone","value":0.5,"min":0.25,"max":1,\
                "target":1.15,"met":true}
                """)
        let shown = ResultLine(benchmark: "B1", caseName: "c", metric: "m", figure: figure, target: nil)
        #expect(shown.json.hasSuffix("\"target\":null,\"met\":null}"))
    }

    @Test("a missed target is said in the table")
    func missed() {
        let figure = Figure(value: 2, minimum: 2, maximum: 2)
        let line = ResultLine(benchmark: "B1", caseName: "c", metric: "m", figure: figure, target: .atMost(1))
        #expect(line.row.hasSuffix("MISSED"))
    }
}

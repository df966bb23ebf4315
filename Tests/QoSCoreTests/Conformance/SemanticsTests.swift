import Testing

/// `Docs/Semantics.md` against the files of the package.
@Suite("The rules as documented")
struct SemanticsTests {
    private static let families: [(String, ClosedRange<Int>)] = [
        ("C", 1...7), ("T", 1...5), ("B", 1...15), ("I", 1...5), ("Q", 1...5), ("O", 1...12), ("X", 1...4),
        ("M", 1...4), ("S", 1...8),
    ]
    private static let rules = families.flatMap { family, numbers in numbers.map { "\(family)\($0)" } }

    private let page: SemanticsPage

    init() throws {
        page = try SemanticsPage(SourceTree.text(of: "Docs/Semantics.md"))
    }

    /// Whether a rule's number is one of a name's words: "B1" is none of "B15 a …".
    private static func cites(_ name: String, _ rule: String) -> Bool {
        name.split { !$0.isLetter && !$0.isNumber }.contains(Substring(rule))
    }

    @Test("each rule stands in the tables once, in order, with a meaning")
    func rules() {
        #expect(page.rows.map(\.rule) == Self.rules)
        for row in page.rows { #expect(row.meaning.hasSuffix("."), "\(row.rule)") }
    }

    @Test("each file that is said to implement a rule exists")
    func paths() {
        let whole = Set(page.gaps.filter { $0.extent == "all" }.map(\.rule))
        for row in page.rows {
            #expect(row.paths.isEmpty == whole.contains(row.rule), "\(row.rule)")
            for path in row.paths {
                #expect(path.hasPrefix("Sources/") && SourceTree.hasFile(path), "\(row.rule): \(path)")
            }
        }
    }

    @Test("each test that is said to show a rule exists and cites its number")
    func tests() throws {
        let names = try SourceTree.testNames()
        for row in page.rows {
            #expect(Set(row.tests).count == row.tests.count, "\(row.rule) names a test twice")
            for test in row.tests {
                #expect(names.contains(test), "\(row.rule): no test is called \(test)")
                #expect(Self.cites(test, row.rule), "\(row.rule) is no word of \(test)")
            }
        }
    }

    @Test("the rules without a test are those that the page says are not built at all")
    func gaps() throws {
        let names = try SourceTree.testNames()
        let untested = Self.rules.filter { rule in !names.contains { Self.cites($0, rule) } }
        #expect(page.gaps.filter { $0.extent == "all" }.map(\.rule) == untested)
        #expect(page.rows.filter(\.tests.isEmpty).map(\.rule) == untested)
        for gap in page.gaps {
            #expect(Self.rules.contains(gap.rule), "\(gap.rule) is no rule")
            #expect(["all", "part"].contains(gap.extent), "\(gap.rule): \(gap.extent)")
            #expect(gap.what.hasSuffix("."), "\(gap.rule)")
        }
    }

    @Test("a line of a table with too few cells, or with half a pair of backticks, is refused")
    func malformed() {
        #expect(throws: SemanticsPage.Malformed.self) { try SemanticsPage("| C1 | two cells |") }
        #expect(throws: SemanticsPage.Malformed.self) { try SemanticsPage("| C1 | m. | `a | `t` |") }
    }
}

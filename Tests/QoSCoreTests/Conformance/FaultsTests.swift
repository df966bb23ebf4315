import Testing

/// `Docs/Inside/Faults.md`, `Docs/Inside/BadInput.md` and `Docs/Inside/Defects.md` against the tests of the package.
@Suite("Faults and bad input as documented")
struct FaultsTests {
    private struct Row {
        let fault: String
        let behavior: String
        let tests: [String]
    }

    private static let pages = ["Docs/Inside/Faults.md", "Docs/Inside/BadInput.md", "Docs/Inside/Defects.md"]

    private func rows(of page: String) throws -> [Row] {
        try SourceTree.text(of: page).split(separator: "\n").filter { $0.hasPrefix("| ") }
            .dropFirst()
            .map { line in
                let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                try #require(cells.count == 5, "\(page): \(line)")
                // Names of tests have no backticks; what stands between a pair of them is one.
                let tests = cells[3].split(separator: "`", omittingEmptySubsequences: false)
                return Row(
                    fault: cells[1], behavior: cells[2],
                    tests: tests.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) })
            }
    }

    @Test("each fault has a behavior and a test, but for fork, which cannot be made to work", arguments: pages)
    func complete(page: String) throws {
        let rows = try rows(of: page)
        #expect(rows.count >= 12)
        for row in rows {
            #expect(row.behavior.count > 15, "\(row.fault)")
            #expect(row.tests.isEmpty == row.fault.contains("fork"), "\(row.fault)")
        }
    }

    @Test("each test that is said to show a fault exists", arguments: pages)
    func tests(page: String) throws {
        let names = try SourceTree.testNames()
        for row in try rows(of: page) {
            for test in row.tests { #expect(names.contains(test), "\(row.fault): no test is called \(test)") }
        }
    }
}

import Foundation
import Testing

@Suite("The README")
struct ReadmeTests {
    @Test("the block on operations is the example that is built, word by word")
    func matchesExample() throws {
        let samples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let example = try String(
            contentsOf: samples.appending(path: "Sources/Examples/example-operations/OperationsExample.swift"),
            encoding: .utf8
        )
        let readme = try String(contentsOf: samples.appending(path: "../README.md"), encoding: .utf8)
        let block = try #require(example.firstMatch(of: /(?s)\/\/ README:\n(.*)\/\/ :README/)?.1)
        #expect(readme.contains("```swift\n\(block)```"))
    }
}

import SafeFiles
import SampleTestSupport
import Testing
import TreeScan

@Suite("Paths of any bytes as text")
struct PathTextTests {
    @Test(
        "bytes and their text",
        arguments: [
            ("caf\\xE9.txt", Array("caf".utf8) + [0xE9] + Array(".txt".utf8)),
            ("caf\u{E9}", Array("caf\u{E9}".utf8)),
            ("\\\\xE9", Array("\\xE9".utf8)),
            ("\\\\\\xE9", Array("\\".utf8) + [0xE9]),
            ("a\\b", Array("a\\b".utf8)),
            ("\\x41", Array("\\x41".utf8)),
            ("end\\", Array("end\\".utf8)),
            ("\\\\u{41}", Array("\\u{41}".utf8)),
            ("\\xE2\\x82", [0xE2, 0x82]),
        ] as [(String, [UInt8])])
    func examples(text: String, bytes: [UInt8]) {
        #expect(PathText.text(bytes) == text)
        #expect(PathText.bytes(text) == bytes)
    }

    @Test("what is shown of a name can be typed again, whatever its bytes are")
    func bothWays() {
        var generator = SeededGenerator(seed: 5)
        let alphabet = Array("\\\\\\xu{}E9fA041 /".utf8) + [0xE9, 0xFF, 0xC3, 0xA9, 0xE2, 0x80, 0xAE, 0x0A]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            #expect(PathText.bytes(PathText.text(bytes)) == bytes)
            #expect(RelativePath(argument: RelativePath(bytes: bytes).display).bytes == bytes)
            let text = PathText.argument(bytes)
            if String(validating: bytes, as: UTF8.self) != nil { #expect(Array(text.utf8) == bytes) }
        }
    }

    @Test("a character that deceives is shown, and what is shown may be typed")
    func hidden() {
        let path = RelativePath("gnp\u{202E}.exe")
        #expect(path.display == "gnp\\u{202E}.exe")
        #expect(RelativePath(argument: "gnp\\u{202E}.exe") == path)
    }

    @Test("a pattern names bytes, and its own backslashes stay")
    func patterns() throws {
        let rules = try ExcludeRules(["caf\\xE9*", "a\\\\b", "\\!c"])
        #expect(rules.match(RelativePath(bytes: Array("caf".utf8) + [0xE9] + Array(".txt".utf8)), isFolder: false))
        #expect(rules.match("a\\b", isFolder: false) && rules.match("!c", isFolder: false))
        #expect(!rules.match("cafe", isFolder: false))
    }
}

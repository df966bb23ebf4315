import Testing

@testable import Indexing

@Suite("Text decoder")
struct TextDecoderTests {
    private static let latin1: [UInt8] =
        Array("caf".utf8) + [0xE9] + Array(" au lait, gar".utf8) + [0xE7] + Array("on".utf8)
    private static let damaged: [UInt8] =
        Array(String(repeating: "über die Brücke ", count: 20).utf8) + [0xFF] + Array(" x".utf8)

    @Test(
        "encodings are recognised",
        arguments: [
            (Array("plain\n".utf8), "plain\n"),
            (Array("żółw".utf8), "żółw"),
            ([0xEF, 0xBB, 0xBF] + Array("żółw".utf8), "żółw"),
            ([0xFF, 0xFE, 0x7C, 0x01, 0x0A, 0x00], "ż\n"),
            ([0xFE, 0xFF, 0x01, 0x7C, 0x00, 0x0A], "ż\n"),
            (latin1, "café au lait, garçon"),
            (damaged, String(repeating: "über die Brücke ", count: 20) + "\u{FFFD} x"),
            ([], ""),
            ([0xFF, 0xFE], ""),
            ([0xFF, 0xFE, 0x41], ""),
        ] as [([UInt8], String)]
    )
    func decodes(bytes: [UInt8], text: String) {
        #expect(TextDecoder.decode(bytes, type: .unknown, isTruncated: false)?.text == text)
    }

    @Test(
        "binary content is told from text",
        arguments: [
            [0x7F, 0x45, 0x4C, 0x46, 0x00],
            [0xFF, 0xFE, 0x00, 0x00, 0x41, 0x00, 0x00, 0x00],
            Array(repeating: 0x01, count: 50) + Array("some text".utf8),
            (0..<200).map { UInt8(0x80 + $0 % 0x40) },
        ] as [[UInt8]]
    )
    func recognisesBinary(bytes: [UInt8]) {
        #expect(TextDecoder.decode(bytes, type: .unknown, isTruncated: false) == nil)
    }

    @Test("a name that promises text is believed unless there is a zero byte")
    func believesNames() {
        let koi8 = (0..<200).map { UInt8(0xC0 + $0 % 0x20) }
        #expect(TextDecoder.decode(koi8, type: .unknown, isTruncated: false) == nil)
        #expect(TextDecoder.decode(koi8, type: .text, isTruncated: false) != nil)
        #expect(TextDecoder.decode([0x41, 0x00], type: .text, isTruncated: false) == nil)
    }

    @Test("zeros behind the sniffed part become spaces")
    func replacesLateZeros() {
        let bytes = Array(repeating: UInt8(ascii: "a"), count: TextDecoder.sniffLength) + [0, UInt8(ascii: "b")]
        let text = TextDecoder.decode(bytes, type: .unknown, isTruncated: false)?.text
        #expect(text?.hasSuffix("a b") == true)
    }

    @Test("a sequence cut at the limit is dropped, not replaced", arguments: [1, 2, 3])
    func dropsCutSequences(kept: Int) {
        let bytes = Array("ab".utf8) + Array("😀".utf8.prefix(kept))
        #expect(TextDecoder.decode(bytes, type: .text, isTruncated: true)?.text == "ab")
        #expect(TextDecoder.decode(Array("ab😀".utf8), type: .text, isTruncated: true)?.text == "ab😀")
    }

    @Test("the census counts sequences and strays")
    func counts() {
        let bytes: [UInt8] = [0x41, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xC3, 0x01, 0xF0, 0x9F]
        let census = ByteCensus(bytes[...])
        #expect((census.total, census.sequences, census.invalid, census.controls, census.high) == (10, 2, 3, 1, 8))
    }

    @Test("the title of a Markdown file is its first heading")
    func findsTitles() {
        let markdown = "\nintro\n## Second\n# First one\n# Another\n"
        #expect(
            ExtractedDocument(Array(markdown.utf8), type: .markdown, isTruncated: false, limit: 1000)?.title
                == "First one")
        #expect(ExtractedDocument(Array(markdown.utf8), type: .text, isTruncated: false, limit: 1000)?.title == "")
        let ofWindows = Array(markdown.replacing("\n", with: "\r\n").utf8)
        #expect(
            ExtractedDocument(ofWindows, type: .markdown, isTruncated: false, limit: 1000)?.title == "First one")
    }
}

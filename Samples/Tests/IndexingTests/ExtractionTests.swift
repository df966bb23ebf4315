import SampleTestSupport
import Testing

@testable import Indexing

@Suite("Text out of formats")
struct ExtractionTests {
    private func document(_ text: String, _ type: FileType) throws -> ExtractedDocument {
        try #require(ExtractedDocument(Array(text.utf8), type: type, isTruncated: false, limit: 1 << 20))
    }

    /// The words of a document.
    private func words(_ text: String, _ type: FileType) throws -> [String] {
        try document(text, type).body.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    @Test(
        "HTML loses its tags, comments, scripts and styles, and its references become characters",
        arguments: [
            ("<p>one</p><p>two</p>", ["one", "two"]), ("f<b>o</b>o", ["foo"]), ("a<br>b", ["a", "b"]),
            ("<!-- no > no -->yes", ["yes"]), ("<script>if (a < b) { no }</script>yes", ["yes"]),
            ("<STYLE type='x>y'>no</STYLE >yes", ["yes"]), ("<a title=\"a > b\">yes</a>", ["yes"]),
            ("<p class=don't>yes</p> it's", ["yes", "it's"]), ("1 < 2 <3", ["1", "<", "2", "<3"]),
            ("caf&eacute; &#233;&#xE9; &amp;lt; &unknown; &copy", ["café", "éé", "&lt;", "&unknown;", "&copy"]),
            ("&#0;&#xD800;&#99999999999;", ["\u{FFFD}\u{FFFD}\u{FFFD}"]), ("<!doctype html><?php no ?>yes", ["yes"]),
            ("<script>no", []), ("yes<a href=\"no", ["yes"]), ("yes<!-- no", ["yes"]), ("yes<", ["yes<"]),
            ("<svg:g>yes</svg:g><my-tag>too</my-tag>", ["yes", "too"]), ("a&nbsp;b", ["a", "b"]),
        ] as [(String, [String])])
    func readsHTML(source: String, expected: [String]) throws {
        #expect(try words(source, .html) == expected, "\(source)")
    }

    @Test("a page has its title, and each line keeps its number")
    func keepsLines() throws {
        let page = try document(
            "<head>\n<title>A &amp;\nB</title><script>\n\n</script>\n<body\n>here<!--\n-->\n", .html)
        #expect(page.title == "A & B")
        let lines = page.body.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.firstIndex { $0.contains("here") } == 6)
        let json = try document("{\n\"a\":\n\"b\\nc\"\n}", .json).body.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(json.count == 4 && json[2].contains("b c"))
    }

    @Test(
        "JSON has its keys, strings and numbers",
        arguments: [
            (#"{"key": "value", "n": [1.5, true, null, false]}"#, ["key", "value", "n", "1.5"]),
            (#"["\u00e9t\u00E9", "\ud83d\ude00", "\ud83d", "\u0000"]"#, ["été", "😀", "\u{FFFD}"]),
            (#""a \"quoted\" \\ word""#, ["a", "\"quoted\"", "\\", "word"]), ("{\"open\": \"cut", ["open", "cut"]),
            ("{\"a\": 1}\n{\"b\": 2} // note", ["a", "1", "b", "2", "//", "note"]), (#""\"#, []), (#""\u12"#, ["12"]),
        ] as [(String, [String])])
    func readsJSON(source: String, expected: [String]) throws {
        #expect(try words(source, .json) == expected, "\(source)")
    }

    @Test(
        "CSV has its cells",
        arguments: [
            ("a,b\n1,\"x, \"\"y\"\"\"\n", "a\tb\n1\tx, \"y\"\n"), ("a;b;c,d\n", "a\tb\tc,d\n"), ("a\tb\n", "a\tb\n"),
            ("\"two\nlines\",b", "two\nlines\tb"), ("5\" disk,b", "5\" disk\tb"), ("\"cut", "cut"),
        ])
    func readsCSV(source: String, expected: String) throws {
        #expect(try document(source, .csv).body == expected)
    }

    private static let mailbox = """
        From ada@example.org Mon Jan  1 00:00:00 2024
        From: =?utf-8?Q?Ada_L=C3=B6velace?= <ada@example.org>
        To: charles@example.org,
         second@example.org
        Subject: =?ISO-8859-1?B?R3L832Ugenk=?= =?utf-8?Q?=21?=
        Date: Mon, 1 Jan 2024 00:00:00 +0000
        X-Secret: hidden
        MIME-Version: 1.0
        Content-Type: multipart/mixed; boundary="outer"

        preamble
        --outer
        Content-Type: multipart/alternative; boundary=inner

        --inner
        Content-Type: text/plain; charset=utf-8
        Content-Transfer-Encoding: quoted-printable

        soft=
        break caf=C3=A9
        >From inside
        --inner
        Content-Type: text/html
        Content-Transfer-Encoding: base64

        PHA+bWFya3VwPC9wPg==
        --inner--
        --outer
        Content-Type: application/octet-stream
        Content-Transfer-Encoding: base64

        YXR0YWNobWVudA==
        --outer--

        From second@example.org Mon Jan  1 00:00:01 2024
        Subject: plain

        second body

        """

    @Test("a mailbox has the people, subjects and parts of text of each message")
    func readsMailbox() throws {
        for type in [FileType.mail, .unknown] {
            let mail = try document(Self.mailbox, type)
            #expect(mail.title == "Grüße zy!")
            for text in [
                "From: Ada Lövelace <ada@example.org>", "To: charles@example.org, second@example.org",
                "Date: Mon, 1 Jan", "softbreak café", "From inside", "markup", "Subject: plain", "second body",
            ] {
                #expect(mail.body.contains(text), "\(text) in \(mail.body)")
            }
            for text in ["hidden", "<p>", "attachment", "YXR0", "outer", "inner"] {
                #expect(!mail.body.contains(text), "\(text)")
            }
        }
        let single = try document("Subject: s\nFrom: f\n\nbody", .mail)
        #expect(single.body.contains("body") && single.title == "s")
        #expect(try document("From here on, prose.\nNo header", .unknown).body.hasPrefix("From here"))
    }

    @Test("cut, nested and hostile mail ends, within the limit")
    func survivesHostileMail() throws {
        let whole = Array(Self.mailbox.utf8)
        for end in whole.indices { _ = MailText(whole[..<end], limit: 1 << 20) }
        let part = "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
        let nested = MailText(Array(String(repeating: part, count: 500).utf8)[...], limit: 1000)
        #expect(nested.text.count <= 1000)
        let many = String(repeating: "From x\nSubject: y\n\n", count: 1000)
        #expect(MailText(Array(many.utf8)[...], limit: 100).text.count <= 100)
    }

    @Test("random bytes and mutated files never fail, and the text stays bounded", arguments: 0..<40 as Range<UInt64>)
    func survivesNoise(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let marks = Array("<>&;\"'=\\{}[],:#/!-?\n\r\t abu1xX".utf8)
        let noise = SeededGenerator.noise(3000, seed: seed)
        let grammar = noise.map { marks[Int($0) % marks.count] }
        var mutated = Array(Self.mailbox.utf8)
        for _ in 0..<30 {
            let place = Int.random(in: 0..<mutated.count, using: &generator)
            mutated[place] = marks[Int.random(in: 0..<marks.count, using: &generator)]
        }
        for bytes in [noise, grammar, mutated] {
            for type in [FileType.html, .json, .csv, .mail, .markdown, .text, .unknown] {
                let limit = 4096
                guard let document = ExtractedDocument(bytes, type: type, isTruncated: false, limit: limit) else {
                    continue
                }
                // Latin-1 takes two bytes for one, and U+FFFD three.
                #expect(document.body.utf8.count <= 3 * max(limit, bytes.count), "\(type) \(seed)")
                #expect(!document.body.utf8.contains(0))
            }
            let text = Array(String(decoding: bytes, as: UTF8.self).utf8)[...]
            #expect(HTMLText(text).text.count <= text.count)
            #expect(JSONText.read(text).count <= text.count)
            #expect(CSVText.read(text).count <= text.count)
            #expect(TransferEncoding.base64(text).count <= text.count)
            #expect(TransferEncoding.quotedPrintable(text).count <= text.count)
        }
    }

    @Test("a file is found by its text, not by its markup")
    func findsFiles() throws {
        let world = try IndexWorld()
        try world.folder.write("page.HTML", "<title>Cover</title><p class=omega>alpha")
        try world.folder.write("data.json", #"{"beta": "al\u0070ha"}"#)
        try world.folder.write("Inbox", Self.mailbox)
        let index = try world.indexed()
        #expect(try index.hits("alpha") == ["page.HTML", "data.json"])
        #expect(try index.hits("omega").isEmpty)
        #expect(try index.hits("title:cover", .fts) == ["page.HTML"])
        #expect(try index.hits("softbreak") == ["Inbox"])
    }
}

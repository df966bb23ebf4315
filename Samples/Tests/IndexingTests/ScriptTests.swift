import Foundation
import SampleTestSupport
import Testing

@testable import Indexing

@Suite("Texts of all scripts")
struct ScriptTests {
    /// Indexes one file for each text and returns the index.
    private func index(_ texts: [String: String], _ world: IndexWorld) throws -> SearchIndex {
        for (name, text) in texts { try world.folder.write(name, text) }
        return try world.indexed()
    }

    @Test(
        "a word of a script without spaces is found wherever it stands, of one and two characters too",
        arguments: [
            ("私は東京都に住んでいます", "東京"), ("私は東京都に住んでいます", "東京都"), ("私は東京都に住んでいます", "都"),
            ("我们讨论了部署方案", "部署"), ("我们讨论了部署方案", "案"), ("我们讨论了部署方案", "我们讨论了部署方案"),
            ("ผมอยากกินข้าวที่บ้าน", "กินข้าว"), ("ผมอยากกินข้าวที่บ้าน", "ที่"), ("ខ្ញុំចង់ញ៉ាំបាយ", "បាយ"), ("ຂ້ອຍຢາກກິນເຂົ້າ", "ກິນ"),
            ("サーバーを再起動する", "サーバー"), ("서울에서 만나요", "서울"), ("대한민국", "한민"),
            ("使用Swift语言", "Swift"), ("使用Swift语言", "语言"), ("使用Swift语言", "用swift语"), ("版本2号", "2"),
            ("ﾃｽﾄを実行", "テスト"), ("ＡＢＣ株式会社", "abc"),
        ])
    func findsWords(text: String, query: String) throws {
        let world = try IndexWorld()
        let index = try index(["a.txt": text, "b.txt": "京東 署部 nothing"], world)
        #expect(try index.hits(query) == ["a.txt"], "\(query) in \(text)")
        #expect(try index.search(SearchQuery(query)).isComplete)
        let hit = try #require(try index.search(SearchQuery(query)).hits.first)
        #expect(hit.snippet.contains(SearchHit.markStart), "\(hit.snippet)")
        #expect(hit.snippet.replacing("⟦", with: "").replacing("⟧", with: "") == text, "the original is shown")
    }

    @Test("characters in another order, or apart, are another word")
    func keepsOrder() throws {
        let world = try IndexWorld()
        let index = try index(["a.txt": "京東へ", "b.txt": "東の京", "c.txt": "東京へ"], world)
        #expect(try index.hits("東京") == ["c.txt"])
        #expect(try index.hits("กัน") == [])
    }

    @Test("a snippet marks a word of such a script once, and as a whole")
    func marksWords() throws {
        let snippet = try Snippet(of: Array("私は東京都に住む。京に東".utf8), terms: SearchQuery("東京").terms)
        #expect(snippet.text == "私は⟦東京⟧都に住む。京に東")
    }

    @Test(
        "either form of accents and Hangul finds the other one, in texts, names and filters",
        arguments: ["café", "한국어", "Ångström", "żółw", "naïve", "й", "Việt"])
    func findsEitherForm(word: String) throws {
        let world = try IndexWorld()
        let (composed, decomposed) = (
            word.precomposedStringWithCanonicalMapping, word.decomposedStringWithCanonicalMapping
        )
        let texts = ["one.txt": "x \(composed) y", "two.txt": "x \(decomposed) y", "\(decomposed).jpg": "\0"]
        let index = try index(texts, world)
        let all: Set<String> = ["one.txt", "two.txt", "\(decomposed).jpg"]
        for query in [composed, decomposed] {
            #expect(Set(try index.hits(query).map(\.unicodes)) == Set(all.map(\.unicodes)), "\(query.unicodes)")
            #expect(try index.hits("path:\(query)").map(\.unicodes) == ["\(decomposed).jpg".unicodes])
        }
    }

    @Test(
        "soft hyphens, zero-width characters and ligatures do not hide a word",
        arguments: [
            ("Donau\u{AD}dampf\u{AD}schiff", "donaudampfschiff"), ("zero\u{200B}width", "zerowidth"),
            ("join\u{200D}ed\u{2060}word", "joinedword"), ("o\u{FB03}ce \u{FB01}sh", "office"),
            ("o\u{FB03}ce \u{FB01}sh", "fish"),
            ("\u{FEFF}start", "start"), ("donau dampf", "don\u{AD}au"), ("葛\u{E0100}飾区", "葛飾"),
        ])
    func ignoresInvisible(text: String, query: String) throws {
        let world = try IndexWorld()
        let index = try index(["a.txt": text], world)
        #expect(try index.hits(query) == ["a.txt"])
        let hit = try #require(try index.search(SearchQuery(query)).hits.first)
        #expect(hit.snippet.contains("⟦"), "\(hit.snippet)")
    }

    @Test(
        "text in ASCII is its own form, and the form of a form is the form itself", arguments: [1, 2, 3, 4] as [UInt64])
    func isStable(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array(
            "ab ,é\u{301}e\u{AD}ﬁ東京가각\u{1112}\u{1161}\u{11AB}กิ้ไ한\u{200B}ｶﾞ½ß\u{FE0F}ह\u{93F}न्".unicodeScalars)
        for _ in 0..<400 {
            let scalars = (0..<Int.random(in: 0..<30, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            let bytes = Array(String(String.UnicodeScalarView(scalars)).utf8)
            let once = WordText.prepared(bytes)
            let words = { (bytes: [UInt8]) in bytes.split { $0 <= 0x20 } }
            #expect(words(WordText.prepared(once)) == words(once), "seed \(seed): \(scalars)")
            #expect(String(validating: once, as: UTF8.self) != nil)
            let unsplit = WordText.prepared(bytes, splits: false)
            #expect(unsplit.filter { $0 > 0x20 } == once.filter { $0 > 0x20 }, "seed \(seed): \(scalars)")
        }
        let ascii = Array("The quick_brown (fox)\n".utf8)
        #expect(WordText.isASCII(ascii) && WordText.prepared(ascii) == ascii)
        for place in 0..<20 {
            var bytes = [UInt8](repeating: 0x41, count: 20)
            bytes[place] = 0x80
            #expect(!WordText.isASCII(bytes))
        }
    }

    @Test("a letter with a million marks takes no longer than a million letters")
    func endsWithManyMarks() throws {
        let world = try IndexWorld()
        let marks = String(String.UnicodeScalarView(repeatElement("\u{323}", count: 300_000)))
        let index = try index(["a.txt": "x" + marks + marks.decomposedStringWithCanonicalMapping + " needle"], world)
        #expect(try index.hits("needle") == ["a.txt"])
    }

    @Test("an index of an earlier version is made anew by itself")
    func rebuilds() throws {
        let world = try IndexWorld()
        try index(["a.txt": "東京"], world).close()
        try execute("PRAGMA user_version = 3", in: world.database)
        let again = try world.indexed()
        #expect(again.status.notice?.contains("made by another version") == true)
        #expect(try again.hits("東京") == ["a.txt"])
    }
}

extension String {
    /// The text so that canonically equal ones differ.
    fileprivate var unicodes: String { unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ") }
}

@Suite("Charsets")
struct CharsetTests {
    private func bytes(_ text: String, _ encoding: String.Encoding) throws -> [UInt8] {
        Array(try #require(text.data(using: encoding)))
    }

    private static let russian = "Сегодня хорошая погода, и мы пойдём гулять в парк вместе с детьми. Москва"
    private static let german = "Übergrößenträger „Anführung“ – 5 € für Fräulein Müller"

    @Test("text of windows-1252, windows-1251 and KOI8-R is known by its letters, whatever its name")
    func guesses() throws {
        for type in [FileType.text, .unknown] {
            for (text, encoding) in [
                (Self.russian, String.Encoding.windowsCP1251), ("Москва", .windowsCP1251),
                (Self.german, .windowsCP1252),
                ("caf\u{E9}", .windowsCP1252),
            ] {
                let decoded = TextDecoder.decode(try bytes(text, encoding), type: type, isTruncated: false)
                #expect(decoded == DecodedText(text: text), "\(encoding)")
            }
            let koi8 = try #require(Charset(named: "koi8-r"))
            let back = koi8.decode(Self.koi8, isTruncated: false)
            #expect(back.text == "привет из Москвы, сегодня хорошая погода" && back.errors == 0)
            let decoded = TextDecoder.decode(Self.koi8, type: type, isTruncated: false)
            #expect(decoded?.text == back.text)
        }
    }

    /// "привет из Москвы, сегодня хорошая погода"
    private static let koi8: [UInt8] = [
        0xD0, 0xD2, 0xC9, 0xD7, 0xC5, 0xD4, 0x20, 0xC9, 0xDA, 0x20, 0xED, 0xCF, 0xD3, 0xCB, 0xD7, 0xD9, 0x2C, 0x20,
        0xD3,
        0xC5, 0xC7, 0xCF, 0xC4, 0xCE, 0xD1, 0x20, 0xC8, 0xCF, 0xD2, 0xCF, 0xDB, 0xC1, 0xD1, 0x20, 0xD0, 0xCF, 0xC7,
        0xCF,
        0xC4, 0xC1,
    ]

    @Test("UTF-16 is read with a mark and, for Latin letters, without one")
    func readsUTF16() throws {
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian] {
            let plain = try bytes("Hello, wörld\n", encoding)
            #expect(TextDecoder.decode(plain, type: .unknown, isTruncated: false)?.text == "Hello, wörld\n")
            let mark: [UInt8] = encoding == .utf16LittleEndian ? [0xFF, 0xFE] : [0xFE, 0xFF]
            let marked = mark + (try bytes("東京 привет", encoding))
            #expect(TextDecoder.decode(marked, type: .unknown, isTruncated: false)?.text == "東京 привет")
        }
        #expect(TextDecoder.decode([0, 1, 0, 2, 0, 3, 0, 4], type: .unknown, isTruncated: false) == nil)
    }

    @Test("a page, XML and mail say their charset, and are believed")
    func readsDeclarations() throws {
        let body = try bytes(Self.russian, .windowsCP1251)
        func document(_ head: String, _ type: FileType, _ tail: String = "") throws -> ExtractedDocument {
            let bytes = Array(head.utf8) + body + Array(tail.utf8)
            return try #require(ExtractedDocument(bytes, type: type, isTruncated: false, limit: 1 << 20))
        }
        for head in [
            "<html><meta charset=windows-1251><p>",
            "<META http-equiv='Content-Type' content='text/html; charset=CP1251'>",
            "<?xml version='1.0' encoding=\"windows-1251\"?><x>",
        ] {
            let page = try document(head, .html)
            #expect(page.body.contains(Self.russian) && page.problem == nil, "\(head)")
        }
        let mail = "Subject: =?koi8-r?B?0NLJ18XU?=\nContent-Type: text/plain; charset=windows-1251\n\n"
        let message = try document(mail, .mail)
        #expect(message.title == "привет" && message.body.contains(Self.russian))
        // Letters that are ASCII bytes until the charset is known.
        let japanese = "Content-Type: text/plain; charset=ISO-2022-JP\n\n\u{1B}$BEl5~\u{1B}(B\n"
        let inner = try #require(ExtractedDocument(Array(japanese.utf8), type: .mail, isTruncated: false, limit: 1000))
        #expect(inner.body.contains("東京"))
        let shift =
            Array("<meta charset=Shift_JIS>".utf8) + [0x93, 0x8C, 0x8B, 0x9E, 0x83, 0x5E, 0x83, 0x8F, 0x81, 0x5B]
        #expect(
            try #require(ExtractedDocument(shift, type: .html, isTruncated: false, limit: 1000)).body.contains("東京タワー"))
    }

    @Test("what cannot be decoded counts as not read, is listed, and is found by its name")
    func tellsUnknown() throws {
        let world = try IndexWorld()
        // Greek, and a charset that nobody has.
        // A greeting in windows-1253.
        let greek: [UInt8] = [
            0xEA, 0xE1, 0xEB, 0xE7, 0xEC, 0xDD, 0xF1, 0xE1, 0x20, 0xF3, 0xE5, 0x20, 0xFC, 0xEB, 0xEF, 0xF5, 0xF2,
            0x2C, 0x20, 0xF3, 0xDE, 0xEC, 0xE5, 0xF1, 0xE1, 0x20, 0xE5, 0xDF, 0xED, 0xE1, 0xE9, 0x20, 0xEC, 0xE9,
            0xE1, 0x20, 0xFC, 0xEC, 0xEF, 0xF1, 0xF6, 0xE7, 0x20, 0xE7, 0xEC, 0xDD, 0xF1, 0xE1,
        ]
        try world.folder.write("greek.txt", bytes: greek)
        try world.folder.write("page.html", bytes: Array("<meta charset=x-nobody>caf".utf8) + [0xE9])
        try world.folder.write("damaged.txt", bytes: Array("good words Fußgängerübergänge äöüß äöü".utf8) + [0xFF])
        try world.folder.write("fine.txt", "fine words")
        let index = try world.indexed()
        #expect(index.status.counts.reasons == ["unknown-charset": 3])
        #expect(!index.status.isComplete)
        #expect(try !index.search(SearchQuery("words")).isComplete)
        #expect(try index.hits("words") == ["damaged.txt", "fine.txt"], "the rest of a damaged text is there")
        #expect(try index.hits("greek") == ["greek.txt"])
        let reasons = Dictionary(uniqueKeysWithValues: index.status.problems.map { ($0.path, $0.detail) })
        #expect(reasons["page.html"]?.contains("x-nobody") == true)
        #expect(reasons["damaged.txt"] == "1 bytes are not UTF-8; the rest is indexed")
        #expect(try index.runPass().settled == 0, "the same bytes would fail in the same way")
    }

    @Test("a declaration that the bytes contradict is not believed")
    func doubtsDeclarations() {
        let utf8 = Array("<meta charset=koi8-r>żółw".utf8)
        #expect(
            TextDecoder.decode(utf8, type: .html, isTruncated: false, declared: "koi8-r")?.text.hasSuffix("żółw")
                == true)
        let western = TextDecoder.decode([0x63, 0x61, 0x66, 0xE9], type: .html, isTruncated: false, declared: "utf-8")
        #expect(western?.text == "café")
        for name in ["", "../../x", "utf-8//IGNORE", String(repeating: "a", count: 100), "\u{0}", "утф"] {
            #expect(Charset(named: name) == nil, "\(name)")
        }
    }
}

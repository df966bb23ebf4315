import Foundation
import SampleTestSupport
import Testing

@testable import Indexing

@Suite("Office documents, books and compressed files")
struct OfficeTests {
    static let hasUnpacker = DocumentConverter.bsdtar.path != nil

    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    private func write(_ name: String, _ entries: [(name: String, text: String)]) throws {
        try world.folder.write(name, bytes: ZipArchive(entries).bytes)
    }

    private static func document(_ body: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>\(body)</w:body></w:document>
        """
    }

    /// Compresses a file of the folder.
    private func gzip(_ name: String) throws {
        let process = try Process.run(URL(filePath: "/usr/bin/gzip"), arguments: [world.folder[name]])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test(
        "the text of an Office document: runs are joined, removed text and fields are no text, each paragraph is a line"
    )
    func readsWords() {
        let xml = Self.document(
            """
            <w:p><w:r><w:t>Zan</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">zibar &amp; </w:t></w:r>\
            <w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>\
            <w:p><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t></w:r></w:p><w:p><w:r><w:t><![CDATA[a<b]]></w:t></w:r></w:p>
            """)
        let core = "<cp:coreProperties xmlns:dc='d'><dc:title>The  plan</dc:title></cp:coreProperties>"
        let text = OfficeText(Array((xml + core).utf8)[...], isOpenDocument: false, limit: 1000)
        #expect(String(decoding: text.text, as: UTF8.self) == "Zanzibar & \none two\na<b\n")
        #expect(String(decoding: text.title, as: UTF8.self) == "The  plan" && !text.isCut)
        #expect(OfficeText(Array(xml.utf8)[...], isOpenDocument: false, limit: 5).isCut)
    }

    @Test("the text of a table: texts, numbers and results, without the places of texts; with another prefix, too")
    func readsTables() {
        let xml = """
            <x:sst><x:si><x:t>Berlin</x:t></x:si><x:si><x:r><x:t>Ham</x:t></x:r><x:r><x:t>burg</x:t></x:r>\
            <x:rPh sb="0"><x:t>said</x:t></x:rPh></x:si></x:sst>\
            <worksheet><sheetData><row r="1"><c r="A1" t="s"><v>77</v></c><c r="B1"><v>42.5</v></c>\
            <c r="C1" t="inlineStr"><is><t>inline</t></is></c><c r="D1" t="str"><f>A1</f><v>result</v></c>\
            <c r="E1" t="b"><v>1</v></c></row></sheetData></worksheet>
            """
        let text = OfficeText(Array(xml.utf8)[...], isOpenDocument: false, limit: 1000)
        #expect(String(decoding: text.text, as: UTF8.self) == "Berlin\nHamburg\n42.5 inline result \n")
    }

    @Test("the text of an OpenDocument: paragraphs and headings, without what was removed")
    func readsOpenDocument() {
        let xml = """
            <office:document-content><office:body><office:text><text:tracked-changes><text:changed-region><text:p>old\
            </text:p></text:changed-region></text:tracked-changes><text:h>Head<text:s/>line</text:h>\
            <text:p>Quar<text:span>tz</text:span><text:line-break/>below</text:p></office:text></office:body>\
            </office:document-content><office:meta><dc:title>Stones</dc:title></office:meta>
            """
        let text = OfficeText(Array(xml.utf8)[...], isOpenDocument: true, limit: 1000)
        #expect(String(decoding: text.text, as: UTF8.self) == "Head line\nQuartz\nbelow\n")
        #expect(String(decoding: text.title, as: UTF8.self) == "Stones")
    }

    @Test("hostile XML has no entities, needs no stack and no more time than its length")
    func survivesHostileXML() {
        let bomb = """
            <!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
            <w:p><w:t>&b;&f;end</w:t></w:p>
            """
        let text = String(
            decoding: OfficeText(Array(bomb.utf8)[...], isOpenDocument: false, limit: 1000).text, as: UTF8.self)
        #expect(text == "&b;&f;end\n")
        var generator = SeededGenerator(seed: 3)
        let pieces = [
            "<w:t>", "</w:t>", "<w:p", "/>", ">", "<", "&", "&#x", "]]>", "<![CDATA[", "<!--", "-->", "<?", "\"",
            "t=\"s\"",
            "<c ", "<v>", "é", "\u{0}", "</", "<text:p>", "<tracked-changes>", ":",
        ]
        for round in 0..<500 {
            let source = (0..<60).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let text = OfficeText(Array(source.utf8)[...], isOpenDocument: round % 2 == 0, limit: 100)
            #expect(text.text.count <= 100 && text.text.count <= source.utf8.count)
        }
        let deep = String(repeating: "<w:t>", count: 200_000)
        #expect(OfficeText(Array(deep.utf8)[...], isOpenDocument: false, limit: 1000).text.isEmpty)
    }

    @Test("real files of all kinds are found by their texts, and what holds none is named", .enabled(if: hasUnpacker))
    func findsFiles() async throws {
        try write(
            "letter.docx",
            [
                ("[Content_Types].xml", "<Types/>"),
                ("word/document.xml", Self.document("<w:p><w:r><w:t>Zanzi</w:t></w:r><w:r><w:t>bar</w:t></w:r></w:p>")),
                ("word/footnotes.xml", "<w:footnotes><w:p><w:t>footnote quartz</w:t></w:p></w:footnotes>"),
                ("docProps/core.xml", "<c><dc:title>Voyage</dc:title></c>"),
            ])
        try write(
            "sums.XLSX",
            [
                ("[Content_Types].xml", "<Types/>"),
                ("xl/sharedStrings.xml", "<sst><si><t>Zanzibar revenue</t></si></sst>"),
                ("xl/worksheets/sheet1.xml", "<worksheet><row><c><v>4711</v></c></row></worksheet>"),
            ])
        try write(
            "talk.odt",
            [
                ("mimetype", "application/vnd.oasis.opendocument.text"),
                ("content.xml", "<o:c><text:p>Zanzibar, naïve</text:p></o:c>"),
            ])
        try write(
            "book.epub",
            [
                ("META-INF/container.xml", "<container/>"),
                (
                    "OEBPS/one.xhtml",
                    "<html><head><title>First</title><script src='x'/></head><body><p>Zanzibar</p></body></html>"
                ),
                ("OEBPS/two.html", "<html><body>second chapter</body></html>"),
                ("OEBPS/style.css", "p { color: gold }"),
            ])
        try world.folder.write("log.txt", "Zanzibar\nlogged")
        try gzip("log.txt")
        try world.folder.write("page.html", "<p class=gold>Zanzibar")
        try gzip("page.html")
        try write("locked.odt", [("mimetype", "x"), ("content.xml", "\u{1}\u{0}\u{7F}")])
        try world.folder.write("broken.docx", "PK no archive at all")
        try world.folder.write("archive.tar.gz", "not even gzip")
        let index = try world.open()
        try await index.makePass().run(patience: .milliseconds(1))
        let texts: Set = ["letter.docx", "sums.XLSX", "talk.odt", "book.epub", "log.txt.gz", "page.html.gz"]
        #expect(try index.hits("zanzibar") == texts)
        #expect(try index.hits("footnote quartz") == ["letter.docx"] && index.hits("4711") == ["sums.XLSX"])
        #expect(try index.hits("naive") == ["talk.odt"] && index.hits("\"second chapter\"") == ["book.epub"])
        #expect(try index.hits("title:voyage", .fts) == ["letter.docx"])
        #expect(try index.hits("gold").isEmpty)
        #expect(index.status.counts.reasons["conversion-failed"] == 2, "\(index.status.problems)")
        let locked = try #require(index.status.problems.first { $0.path == "locked.odt" })
        #expect(locked.detail.contains("encrypted or damaged"))
        #expect(try index.hits("locked") == ["locked.odt"] && index.hits("archive") == ["archive.tar.gz"])
        #expect(!index.status.isComplete)
    }

    @Test(
        "an encrypted document is an error of that file, and nobody is asked for a password", .enabled(if: hasUnpacker))
    func passesLocked() async throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/zip") else { return }
        try world.state.write("word/document.xml", Self.document("<w:p><w:t>secret</w:t></w:p>"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/zip")
        process.arguments = ["-q", "-P", "password", world.folder["secret.docx"], "word/document.xml"]
        process.currentDirectoryURL = URL(filePath: world.state.path)
        try process.run()
        process.waitUntilExit()
        let index = try world.open()
        try await index.makePass().run(patience: .milliseconds(1))
        #expect(index.status.counts.reasons == ["conversion-failed": 1] && !index.status.isComplete)
    }

    @Test("a small file that unpacks to a large one is cut at the limits, and says so", .enabled(if: hasUnpacker))
    func capsBombs() async throws {
        try world.folder.write("zeros.txt", String(repeating: "alpha ", count: 2_000_000))
        try gzip("zeros.txt")
        let long = Self.document(String(repeating: "<w:p><w:t>alpha beta</w:t></w:p>", count: 600_000))
        try write("long.docx", [("word/document.xml", long)])
        let index = try world.open { $0.textLimit = 1 << 20 }
        try await index.makePass().run(patience: .milliseconds(1))
        #expect(try index.hits("alpha") == ["zeros.txt.gz", "long.docx"])
        #expect(index.status.counts.truncated == 2 && !index.status.isComplete)
    }

    @Test("without the unpacker the file says what to install, and is read once it is there")
    func needsUnpacker() throws {
        try write("a.odt", [("content.xml", "<text:p>alpha</text:p>")])
        let index = try world.open { $0.archiveConverter?.program = "/none/bsdtar" }
        try index.runPass()
        #expect(index.status.problems.first?.detail.contains("Install the package libarchive-tools") == true)
        #expect(try index.hits("a.odt") == ["a.odt"], "its name is found")
        try index.close()
        guard Self.hasUnpacker else { return }
        let again = try world.open()
        try again.runPass()
        #expect(try again.hits("alpha") == ["a.odt"] && again.status.isComplete)
    }
}

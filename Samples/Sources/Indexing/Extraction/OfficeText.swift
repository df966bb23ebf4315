/// Takes the text out of the XML parts of an office document. Tolerates every kind of mistake.
///
/// The parts come one after the other, as an unpacker writes them. Declarations are passed over, so no entity of a
/// document has a meaning, and no text grows. Names count without their prefixes. Each paragraph is a line.
/// Memory and time: O(n); the text is never longer than the source.
struct OfficeText {
    /// The maximum length of a title, in bytes.
    private static let titleLimit = 300
    /// The longest name of an element that is looked at, in bytes.
    private static let nameLimit = 40

    /// The text of the paragraphs and cells.
    private(set) var text: [UInt8] = []
    /// The title among the properties of the document.
    private(set) var title: [UInt8] = []
    /// Whether text was left out at the limit.
    private(set) var isCut = false

    private let bytes: ArraySlice<UInt8>
    private let isOpenDocument: Bool
    private let limit: Int
    private var position: Int
    /// The elements around this place that have text.
    private var textDepth = 0
    /// The elements around this place whose text is not that of the document: removed, or a pronunciation.
    private var hiddenDepth = 0
    private var isInTitle = false
    /// Whether the value of the cell is a number, and not the place of a text.
    private var isNumber = true

    /// Reads the parts of a document.
    ///
    /// - Parameters:
    ///   - bytes: The parts.
    ///   - isOpenDocument: Whether it is one of OpenDocument, else of Office Open XML.
    ///   - limit: The maximum length of the text, in bytes.
    init(_ bytes: ArraySlice<UInt8>, isOpenDocument: Bool, limit: Int) {
        self.bytes = bytes
        self.isOpenDocument = isOpenDocument
        self.limit = limit
        position = bytes.startIndex
        while position < bytes.endIndex, !isCut {
            switch bytes[position] {
            case UInt8(ascii: "<"): readMarkup()
            case UInt8(ascii: "&"):
                if let (scalar, end) = HTMLReference.read(bytes, at: position) {
                    for byte in String(scalar).utf8 { put(byte) }
                    position = end
                } else {
                    put(UInt8(ascii: "&"))
                    position += 1
                }
            case let byte:
                put(byte)
                position += 1
            }
        }
    }

    private mutating func put(_ byte: UInt8) {
        if isInTitle, title.count < Self.titleLimit { title.append(byte) }
        guard textDepth > 0, hiddenDepth == 0 else { return }
        append(byte)
    }

    private mutating func append(_ byte: UInt8) {
        guard text.count < limit else {
            isCut = true
            return
        }
        text.append(byte)
    }

    /// Ends a word, a line or a cell.
    private mutating func separate(_ byte: UInt8) {
        guard hiddenDepth == 0, let last = text.last, last != UInt8(ascii: "\n") else { return }
        if byte == UInt8(ascii: " "), last == byte { return }
        append(byte)
    }

    private mutating func readMarkup() {
        let rest = bytes[position...]
        if rest.starts(with: "<!--".utf8) { return skip(behind: "-->") }
        if rest.starts(with: "<![CDATA[".utf8) {
            position += 9
            while position < bytes.endIndex, !isCut {
                if bytes[position] == UInt8(ascii: "]"), bytes[position...].starts(with: "]]>".utf8) {
                    position += 3
                    return
                }
                put(bytes[position])
                position += 1
            }
            return
        }
        if rest.starts(with: "<?".utf8) { return skip(behind: "?>") }
        if rest.starts(with: "<!".utf8) { return skip(behind: ">") }
        readTag()
    }

    private mutating func skip(behind mark: String) {
        let mark = Array(mark.utf8)
        while position < bytes.endIndex {
            if bytes[position] == mark[0], bytes[position...].starts(with: mark) {
                position += mark.count
                return
            }
            position += 1
        }
    }

    private mutating func readTag() {
        let isEnd = position + 1 < bytes.endIndex && bytes[position + 1] == UInt8(ascii: "/")
        let start = min(position + (isEnd ? 2 : 1), bytes.endIndex)
        let end = bytes[start...].firstIndex { !Self.isNamePart($0) } ?? bytes.endIndex
        var name = bytes[start..<end]
        if let colon = name.lastIndex(of: UInt8(ascii: ":")) { name = name[(colon + 1)...] }
        position = end
        let isEmpty = skipAttributes()
        let local = String(decoding: name.prefix(Self.nameLimit), as: UTF8.self)
        if isEnd {
            close(local)
        } else {
            open(local, bytes[end..<position])
            if isEmpty { close(local) }
        }
    }

    /// Goes behind the `>` of a tag. Returns whether the element has no content.
    private mutating func skipAttributes() -> Bool {
        var quote: UInt8?
        var last: UInt8 = 0
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: ">") {
                return last == UInt8(ascii: "/")
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            last = byte
        }
        return false
    }

    private mutating func open(_ name: String, _ attributes: ArraySlice<UInt8>) {
        if name == "title", title.isEmpty { isInTitle = true }
        if isOpenDocument {
            switch name {
            case "p", "h": textDepth += 1
            case "s", "tab": separate(UInt8(ascii: " "))
            case "line-break": separate(UInt8(ascii: "\n"))
            case "tracked-changes": hiddenDepth += 1
            default: break
            }
            return
        }
        switch name {
        case "t": textDepth += 1
        case "v" where isNumber: textDepth += 1
        case "c":
            // A cell with the place of a text has the text elsewhere; true and errors are no words.
            isNumber = !["s", "b", "e"].contains { Self.hasType($0, attributes) }
        case "tab", "br", "cr": separate(UInt8(ascii: " "))
        case "noBreakHyphen": separate(UInt8(ascii: "-"))
        case "rPh": hiddenDepth += 1
        default: break
        }
    }

    private mutating func close(_ name: String) {
        if name == "title" { isInTitle = false }
        if isOpenDocument {
            switch name {
            case "p", "h":
                textDepth = max(0, textDepth - 1)
                separate(UInt8(ascii: "\n"))
            case "tracked-changes": hiddenDepth = max(0, hiddenDepth - 1)
            default: break
            }
            return
        }
        switch name {
        case "t": textDepth = max(0, textDepth - 1)
        case "v" where isNumber: textDepth = max(0, textDepth - 1)
        case "c", "tc": separate(UInt8(ascii: " "))
        case "p", "si", "row": separate(UInt8(ascii: "\n"))
        case "rPh": hiddenDepth = max(0, hiddenDepth - 1)
        default: break
        }
    }

    /// Whether attributes have `t="TYPE"`.
    private static func hasType(_ type: String, _ attributes: ArraySlice<UInt8>) -> Bool {
        [" t=\"\(type)\"", " t='\(type)'"].contains { attributes.firstRange(of: Array($0.utf8)) != nil }
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: byte >= 0x80
        }
    }
}

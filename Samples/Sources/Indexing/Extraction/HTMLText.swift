/// Takes the text out of HTML. Tolerates every kind of mistake, as browsers do.
///
/// Tags and comments go, scripts and styles too, and character references become characters. Each line feed stays, so
/// the numbers of lines are those of the file. Memory and time: O(n); the text is never longer than the source.
struct HTMLText {
    /// The maximum length of a title, in bytes.
    private static let titleLimit = 300

    /// The text between the tags.
    private(set) var text: [UInt8] = []
    /// The text of the first title.
    private(set) var title: [UInt8] = []

    private let bytes: ArraySlice<UInt8>
    private let isXML: Bool
    private var position: Int
    private var isInTitle = false
    private var hasTitle = false

    /// Reads a page.
    ///
    /// - Parameter isXML: Whether `<script/>` has no content, as in books.
    init(_ bytes: ArraySlice<UInt8>, isXML: Bool = false) {
        self.bytes = bytes
        self.isXML = isXML
        position = bytes.startIndex
        text.reserveCapacity(bytes.count / 2)
        while position < bytes.endIndex {
            switch bytes[position] {
            case UInt8(ascii: "<"): readMarkup()
            case UInt8(ascii: "&"): readReference()
            case let byte:
                put(byte)
                position += 1
            }
        }
    }

    private mutating func put(_ byte: UInt8) {
        if isInTitle, title.count < Self.titleLimit { title.append(byte) }
        text.append(byte)
    }

    /// Reads a tag, a comment or a declaration; anything else behind `<` is text.
    private mutating func readMarkup() {
        let next = peek(1)
        switch next {
        case UInt8(ascii: "!") where peek(2) == UInt8(ascii: "-") && peek(3) == UInt8(ascii: "-"):
            skip(to: position + 4)
            skip(behind: "-->")
        case UInt8(ascii: "!"), UInt8(ascii: "?"): skip(behind: ">")
        case UInt8(ascii: "/") where Self.isLetter(peek(2)): readTag(from: position + 2, isEnd: true)
        case let byte? where Self.isLetter(byte): readTag(from: position + 1, isEnd: false)
        default:
            put(UInt8(ascii: "<"))
            position += 1
        }
    }

    private mutating func readTag(from start: Int, isEnd: Bool) {
        let end = bytes[start...].firstIndex { !Self.isNamePart($0) } ?? bytes.endIndex
        let name = String(decoding: bytes[start..<min(end, start + 16)].map { $0 | 0x20 }, as: UTF8.self)
        skip(to: end)
        skipAttributes()
        let isEmpty = isXML && position >= start + 2 && bytes[position - 2] == UInt8(ascii: "/")
        if name == "title" {
            isInTitle = !isEnd && !isEmpty && !hasTitle
            hasTitle = true
        }
        // Only tags within a line may stand inside of a word.
        if !Self.inline.contains(name) { put(UInt8(ascii: " ")) }
        if !isEnd, !isEmpty, Self.raw.contains(name) { skipRaw(name) }
    }

    /// Goes behind the `>` of a tag. A `>` in quotes behind a `=` does not end it.
    private mutating func skipAttributes() {
        var quote: UInt8?
        var isValue = false
        while position < bytes.endIndex {
            let byte = bytes[position]
            skip(to: position + 1)
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: ">") {
                return
            } else if isValue, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            isValue = byte == UInt8(ascii: "=") || (isValue && byte <= 0x20)
        }
    }

    /// Goes to the end tag of an element that holds no text for people.
    private mutating func skipRaw(_ name: String) {
        let end = Array("</\(name)".utf8)
        while position < bytes.endIndex {
            if bytes[position] == end[0], position + end.count <= bytes.endIndex,
                zip(bytes[position...], end).allSatisfy({ $0 | 0x20 == $1 })
            {
                return
            }
            skip(to: position + 1)
        }
    }

    /// Reads a character reference; an unknown one is text.
    private mutating func readReference() {
        if let (scalar, end) = HTMLReference.read(bytes, at: position) {
            for byte in String(scalar).utf8 { put(byte) }
            position = end
        } else {
            put(UInt8(ascii: "&"))
            position += 1
        }
    }

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.endIndex ? bytes[position + distance] : nil
    }

    private mutating func skip(behind mark: String) {
        let mark = Array(mark.utf8)
        while position < bytes.endIndex {
            let isMark = bytes[position...].starts(with: mark)
            skip(to: position + (isMark ? mark.count : 1))
            if isMark { return }
        }
    }

    /// Goes on without a character, except for the line feeds.
    private mutating func skip(to end: Int) {
        let end = min(end, bytes.endIndex)
        for byte in bytes[min(position, end)..<end] where byte == UInt8(ascii: "\n") { text.append(byte) }
        position = max(position, end)
    }

    private static func isLetter(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return (0x61...0x7A).contains(byte | 0x20)
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ":")
    }

    private static let raw: Set<String> = ["script", "style"]

    private static let inline: Set<String> = [
        "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark",
        "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    ]
}

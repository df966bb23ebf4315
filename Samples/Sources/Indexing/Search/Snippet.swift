/// Cuts a short piece out of a text around the words of a query.
///
/// FTS5's own `snippet()` compares each match in a text with all the others. The best hits have a word thousands of
/// times: that takes tens of milliseconds per hit.
struct Snippet {
    /// The number of bytes in which the matches of a snippet lie together.
    private static let window = 200
    /// The number of bytes of context before the first match.
    private static let lead = 60
    /// The number of bytes after which the best piece so far is good enough.
    private static let patience = 1 << 20

    /// The piece, with the matches between the marks.
    let text: String
    /// The number of the line with the first match of the piece, from 1.
    let line: Int

    /// Finds the first piece with the most different words. O(length of the text), less when all words are found early.
    init(of bytes: [UInt8], terms: SearchTerms) {
        let start = Self.bestStart(bytes, terms)
        text = Self.render(bytes, from: max(0, (start ?? 0) - Self.lead), terms)
        line = bytes[..<(start ?? 0)].reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    }

    /// Returns the start of the best piece, or nil when the text has no word of the query.
    private static func bestStart(_ bytes: [UInt8], _ terms: SearchTerms) -> Int? {
        var scanner = TokenScanner(bytes[...])
        var recent: [(start: Int, term: Int)] = []
        var best: (start: Int, count: Int)?
        while let token = scanner.next() {
            if best != nil, token.range.lowerBound > patience { break }
            guard let term = terms.match(token, in: scanner)?.term else { continue }
            recent.removeAll { $0.start + window < token.range.upperBound || $0.term == term }
            recent.append((token.range.lowerBound, term))
            guard recent.count > best?.count ?? 0 else { continue }
            best = (recent[0].start, recent.count)
            if recent.count == terms.terms.count { break }
        }
        return best?.start
    }

    private static func render(_ bytes: [UInt8], from start: Int, _ terms: SearchTerms) -> String {
        let start = start == 0 ? 0 : boundary(bytes, from: start, step: 1)
        let end = min(bytes.count, start + lead + window)
        let piece = bytes[start..<(end == bytes.count ? end : max(start, boundary(bytes, from: end, step: -1)))]
        let text = marked(piece, terms)
        let isSpace: (UInt8) -> Bool = { $0 <= 0x20 }
        let trimmed = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return (start > 0 ? "…" : "") + String(decoding: trimmed, as: UTF8.self)
            + (piece.endIndex < bytes.count ? "…" : "")
    }

    /// Returns a text with its matches between the marks. O(its length).
    static func marked(_ piece: ArraySlice<UInt8>, _ terms: SearchTerms) -> [UInt8] {
        var text: [UInt8] = []
        var copied = piece.startIndex
        var scanner = TokenScanner(piece)
        while let token = scanner.next() {
            guard token.range.lowerBound >= copied, let match = terms.match(token, in: scanner) else { continue }
            for place in match.places {
                text += withoutMarks(piece[copied..<place.lowerBound])
                text += SearchHit.markStart.utf8 + Array(piece[place]) + SearchHit.markEnd.utf8
                copied = place.upperBound
            }
        }
        return text + withoutMarks(piece[copied...])
    }

    /// Returns the numbers of the lines in which a match begins, from 1. O(the text's length).
    static func lines(with terms: SearchTerms, in text: ArraySlice<UInt8>, limit: Int) -> [Int] {
        var lines: [Int] = []
        var line = 1
        var counted = text.startIndex
        var scanner = TokenScanner(text)
        while lines.count < limit, let token = scanner.next() {
            guard terms.match(token, in: scanner) != nil else { continue }
            line += text[counted..<token.range.lowerBound].count { $0 == UInt8(ascii: "\n") }
            counted = token.range.lowerBound
            if lines.last != line { lines.append(line) }
        }
        return lines
    }

    /// Returns the text with other brackets in place of those that mark matches.
    private static func withoutMarks(_ text: ArraySlice<UInt8>) -> [UInt8] {
        // U+27E6 and U+27E7 are E2 9F A6 and A7; U+301A and U+301B, which stand in for them, E3 80 9A and 9B.
        var result = Array(text)
        for index in result.indices.dropLast(2) where result[index] == 0xE2 && result[index + 1] == 0x9F {
            guard result[index + 2] == 0xA6 || result[index + 2] == 0xA7 else { continue }
            result[index] = 0xE3
            result[index + 1] = 0x80
            result[index + 2] -= 0x0C
        }
        return result
    }

    /// Returns the nearest place in one direction that does not cut a word. Within twenty bytes, else one between
    /// characters.
    private static func boundary(_ bytes: [UInt8], from index: Int, step: Int) -> Int {
        var place = index
        for _ in 0..<20 where place > 0 && place < bytes.count {
            if bytes[place] <= 0x20 { return place }
            place += step
        }
        place = index
        while place > 0, place < bytes.count, bytes[place] & 0xC0 == 0x80 { place += step }
        return place
    }
}

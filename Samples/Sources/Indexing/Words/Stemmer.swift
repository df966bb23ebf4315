internal import CStemmer
internal import Synchronization

/// A language whose word forms an index finds together, by the rules of Snowball.
public enum StemLanguage: String, Sendable, Hashable, Codable, CaseIterable {
    case english, german

    /// A character behind a stem, so that it is no word. It is for private use, and so a letter for the tokenizer.
    var mark: String {
        switch self {
        case .english: "\u{E000}"
        case .german: "\u{E001}"
        }
    }
}

/// Takes words to their stems. One thread at a time may use it.
@safe final class Stemmer {
    /// The lengths of words that have a stem, in bytes.
    static let lengths = 3...64

    let languages: [StemLanguage]
    private let marks: [[UInt8]]
    private let stemmers: [OpaquePointer?]

    /// Makes a stemmer.
    init(_ languages: [StemLanguage]) {
        self.languages = languages
        marks = languages.map { Array($0.mark.utf8) }
        unsafe stemmers = languages.map { unsafe sb_stemmer_new($0.rawValue, "UTF_8") }
    }

    deinit {
        for index in unsafe stemmers.indices { unsafe sb_stemmer_delete(stemmers[index]) }
    }

    /// Whether a word may have a stem: letters of Latin script.
    static func canStem(_ word: UnsafeRawBufferPointer) -> Bool {
        guard lengths.contains(word.count), let first = unsafe word.first else { return false }
        return (0x61...0x7A).contains(first) || (0xC3...0xC9).contains(first)
    }

    /// Calls a function with each stem of a word, its mark behind it. Several languages may have the same one.
    func forEachStem(of word: UnsafeRawBufferPointer, _ body: (StemLanguage, [UInt8]) -> Void) {
        guard unsafe Self.canStem(word) else { return }
        for (index, language) in languages.enumerated() {
            let symbols = unsafe word.assumingMemoryBound(to: sb_symbol.self)
            // SAFETY: the result belongs to the stemmer, and lives until its next call.
            guard let stemmer = unsafe stemmers[index],
                let stem = unsafe sb_stemmer_stem(stemmer, symbols.baseAddress, CInt(symbols.count))
            else { continue }
            let length = Int(unsafe sb_stemmer_length(stemmer))
            guard length > 0 else { continue }
            var bytes = [UInt8]()
            bytes.reserveCapacity(length + 3)
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: stem, count: length))
            bytes += marks[index]
            body(language, bytes)
        }
    }

    /// Returns the stems of a folded word, each with the mark of its language.
    func stems(of word: [UInt8]) -> [[UInt8]] {
        var stems: [[UInt8]] = []
        unsafe word.withUnsafeBytes { word in unsafe forEachStem(of: word) { stems.append($1) } }
        return stems
    }
}

/// The stems of words for the marks in texts, which several threads make at a time.
enum SharedStemmers {
    private static let stemmers = Mutex<[[StemLanguage]: Stemmer]>([:])

    /// Returns the stems of a folded word, each with the mark of its language.
    static func stems(of word: [UInt8], _ languages: [StemLanguage]) -> [[UInt8]] {
        stemmers.withLock { stemmers in
            let stemmer = stemmers[languages] ?? Stemmer(languages)
            stemmers[languages] = stemmer
            return stemmer.stems(of: word)
        }
    }
}

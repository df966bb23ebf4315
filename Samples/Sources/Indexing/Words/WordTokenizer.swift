internal import GRDB
internal import GRDBSQLite

/// The tokenizer of the index: SQLite's own, on texts in the form of ``WordText``.
///
/// Text in ASCII goes to SQLite's tokenizer directly. The places of tokens are those in the prepared form: nothing asks
/// for them, because snippets are made here.
final class WordTokenizer: FTS5CustomTokenizer {
    static let name = "words_of_all_scripts"

    private let tokenizer: any FTS5Tokenizer
    private let splits: Bool
    /// Nil for an index without stems.
    private let stemmer: Stemmer?

    /// Makes the tokenizer of a connection.
    ///
    /// - Parameter arguments: `trigram` for sequences of three characters, or the languages of stems.
    init(db: Database, arguments: [String]) throws {
        let languages = arguments.compactMap { StemLanguage(rawValue: $0) }
        stemmer = languages.isEmpty ? nil : Stemmer(languages)
        splits = arguments.first != "trigram"
        tokenizer = try db.makeTokenizer(
            splits
                ? FTS5TokenizerDescriptor(components: [
                    "unicode61", "remove_diacritics", "2", "categories", "L* N* Co Mn Mc",
                ]) : FTS5TokenizerDescriptor(components: ["trigram"]))
    }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        guard let stemmer, tokenization.contains(.document) else {
            return unsafe tokenizeWords(context, tokenization, pText, nText, tokenCallback)
        }
        // A text has each word, and its stems at the same place. A query names the stems itself.
        var words = unsafe WordsWithStems(stemmer: stemmer, context: context, callback: tokenCallback)
        return unsafe withUnsafeMutablePointer(to: &words) { words in
            unsafe tokenizeWords(words, tokenization, pText, nText) { context, flags, token, length, start, end in
                guard let words = unsafe context?.assumingMemoryBound(to: WordsWithStems.self) else {
                    return SQLITE_ERROR
                }
                return unsafe words.pointee.pass(flags, token, length, start, end)
            }
        }
    }

    /// What the tokenizer of words calls back with.
    @unsafe private struct WordsWithStems {
        let stemmer: Stemmer
        let context: UnsafeMutableRawPointer?
        let callback: FTS5TokenCallback

        func pass(_ flags: CInt, _ token: UnsafePointer<CChar>?, _ length: CInt, _ start: CInt, _ end: CInt) -> CInt {
            var code = unsafe callback(context, flags, token, length, start, end)
            guard code == SQLITE_OK else { return code }
            // SAFETY: the token has this length, and lives during this call.
            let word = unsafe UnsafeRawBufferPointer(start: token, count: max(0, Int(length)))
            unsafe stemmer.forEachStem(of: word) { _, stem in
                // A word that is its own stem is found by itself.
                guard code == SQLITE_OK, unsafe !stem.dropLast(3).elementsEqual(word) else { return }
                code = unsafe stem.withUnsafeBytes { stem in
                    unsafe callback(
                        context, flags | FTS5_TOKEN_COLOCATED, stem.baseAddress?.assumingMemoryBound(to: CChar.self),
                        CInt(stem.count), start, end)
                }
            }
            return code
        }
    }

    private func tokenizeWords(
        _ context: UnsafeMutableRawPointer?, _ tokenization: FTS5Tokenization, _ pText: UnsafePointer<CChar>?,
        _ nText: CInt, _ tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        // SAFETY: FTS5 keeps the text alive and unchanged during this call, and `nText` is its length.
        let text = unsafe UnsafeRawBufferPointer(start: pText, count: max(0, Int(nText)))
        if unsafe WordText.isASCII(text) {
            return unsafe tokenizer.tokenize(
                context: context, tokenization: tokenization, pText: pText, nText: nText, tokenCallback: tokenCallback)
        }
        let prepared = unsafe WordText.prepared(Array(text), splits: splits)
        return unsafe prepared.withUnsafeBytes { bytes in
            let pointer = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe tokenizer.tokenize(
                context: context, tokenization: tokenization, pText: pointer, nText: CInt(clamping: bytes.count),
                tokenCallback: tokenCallback)
        }
    }
}

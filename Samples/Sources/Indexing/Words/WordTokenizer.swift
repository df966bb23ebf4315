internal import GRDB

/// The tokenizer of the index: SQLite's own, on texts in the form of ``WordText``.
///
/// Text in ASCII goes to SQLite's tokenizer directly. The places of tokens are those in the prepared form: nothing asks
/// for them, because snippets are made here.
final class WordTokenizer: FTS5CustomTokenizer {
    static let name = "words_of_all_scripts"

    private let tokenizer: any FTS5Tokenizer
    private let splits: Bool

    /// Makes the tokenizer of a connection.
    ///
    /// - Parameter arguments: `trigram` for sequences of three characters, else nothing.
    init(db: Database, arguments: [String]) throws {
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

internal import TreeScan

/// The result of the attempt to read one file.
struct ExtractionResult: Equatable {
    /// The two possible outcomes.
    enum Outcome: Equatable {
        case document(ExtractedDocument)
        case none(FileReason, detail: String)
    }

    /// The outcome.
    var outcome: Outcome
    /// The file's stamp before the reading; nil when opening failed. The scan's stamp is then kept.
    var stamp: FileStamp?
    /// Whether the file changed during the reading, and so must be read again.
    var changedMeanwhile = false
}

internal import TreeScan

/// What became of the attempt to read one file.
struct ExtractionResult: Equatable {
    /// The two ways it can end.
    enum Outcome: Equatable {
        case document(ExtractedDocument)
        case none(FileReason, detail: String)
    }

    /// The outcome.
    var outcome: Outcome
    /// The file's stamp before it was read; nil when it could not be opened, so that the scan's stamp stands.
    var stamp: FileStamp?
    /// Whether the file changed while it was read, so that it must be read again.
    var changedMeanwhile = false
}

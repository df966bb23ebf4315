internal import Glibc
internal import TreeScan

/// Reads files and extracts their text.
struct TextExtractor: Sendable {
    /// The maximum number of bytes to read of one file. Memory is a small multiple of it.
    let textLimit: Int

    /// Reads one file.
    ///
    /// A problem of the file is part of the result.
    ///
    /// - Throws: `FileSystemFailure` only when the process or the machine has run out of a resource.
    func extract(_ path: RelativePath, in root: RootFolder) throws(FileSystemFailure) -> ExtractionResult {
        let type = FileType(extension: path.fileExtension)
        guard type != .binary else {
            return ExtractionResult(outcome: .none(.binaryName, detail: ""))
        }
        do throws(FileSystemFailure) {
            return try read(root.open(path), type: type)
        } catch  where error.isExhaustion {
            throw error
        } catch {
            return ExtractionResult(outcome: .none(Self.reason(for: error), detail: error.description))
        }
    }

    private func read(_ file: consuming OpenFile, type: FileType) throws(FileSystemFailure) -> ExtractionResult {
        let before = try file.stamp()
        let bytes = try file.read(limit: textLimit)
        let after = try file.stamp()
        let isTruncated = bytes.count == textLimit && after.size > Int64(textLimit)
        let outcome: ExtractionResult.Outcome =
            if let body = TextDecoder.decode(bytes, type: type, isTruncated: isTruncated) {
                .document(ExtractedDocument(body: body, type: type, isTruncated: isTruncated))
            } else {
                .none(.binary, detail: "")
            }
        return ExtractionResult(outcome: outcome, stamp: before, changedMeanwhile: before != after)
    }

    private static func reason(for failure: FileSystemFailure) -> FileReason {
        if failure.isVanished { return .vanished }
        if failure.isDenied { return .denied }
        return failure.code == ENODEV || failure.code == EISDIR ? .notAFile : .unreadable
    }
}

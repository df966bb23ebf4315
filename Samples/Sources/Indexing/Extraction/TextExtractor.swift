internal import Glibc
internal import TreeScan

/// Reads files and extracts their text.
struct TextExtractor: Sendable {
    /// The maximum number of bytes to read of one file. Memory is a small multiple of it.
    let textLimit: Int

    /// The converters of formats, as far as files of these are to be read.
    private let converters: [FileType: DocumentConverter]
    /// The formats whose converters are installed.
    private let installed: Set<FileType>
    /// The converters that run for this pass.
    let conversions = RunningConversions()

    init(_ settings: IndexSettings) {
        textLimit = settings.textLimit
        var converters: [FileType: DocumentConverter] = [:]
        converters[.pdf] = settings.pdfConverter
        converters[.compressed] = settings.gzipConverter
        // One pattern each that every such file has, because a pattern without a match is an error.
        for (type, pattern) in [(FileType.openXML, "*.xml"), (.openDocument, "*.xml"), (.book, "*.[xXhH]*[mM]*")] {
            var converter = settings.archiveConverter
            converter?.arguments.append(pattern)
            converters[type] = converter
        }
        self.converters = converters
        installed = Set(converters.filter { $0.value.path != nil }.keys)
    }

    /// Whether a converter reads the file, and is installed.
    func canConvert(_ path: RelativePath) -> Bool { installed.contains(FileType(path)) }

    /// Reads one file. Blocks the thread on the disk, and until its converter has ended if it needs one.
    ///
    /// A problem of the file is part of the result.
    ///
    /// - Throws: `FileSystemFailure` only when the process or the machine has run out of a resource.
    func extract(_ path: RelativePath, in root: RootFolder) throws(FileSystemFailure) -> ExtractionResult {
        let type = FileType(path)
        guard let converter = converters[type] else { return try readText(path, type, in: root) }
        guard installed.contains(type) else { return Self.missing(converter) }
        return try Self.result { () throws(FileSystemFailure) in
            let file = try root.open(path)
            let before = try file.stamp()
            let process = ConversionProcess(converter, limit: converter.outputLimit ?? textLimit)
            conversions.begin(process)
            defer { conversions.end(process) }
            let ending = process.run(file.descriptor)
            return try result(of: ending, path, before, try file.stamp())
        }
    }

    /// Reads one file from a task. Blocks the thread on the disk, and suspends the task until a converter has ended.
    ///
    /// - Throws: `FileSystemFailure` when a resource has run out, or the task was cancelled before the converter's end.
    func extractInTask(_ path: RelativePath, in root: RootFolder) async throws(FileSystemFailure) -> ExtractionResult {
        let type = FileType(path)
        guard let converter = converters[type], installed.contains(type) else { return try extract(path, in: root) }
        let opened: (file: Int32, stamp: FileStamp)
        do throws(FileSystemFailure) {
            let file = try root.open(path)
            opened = (dup(file.descriptor), try file.stamp())
        } catch {
            return try Self.result { () throws(FileSystemFailure) in throw error }
        }
        guard opened.file >= 0 else { throw FileSystemFailure(path: path, operation: "dup", code: errno) }
        defer { close(opened.file) }
        let process = ConversionProcess(converter, limit: converter.outputLimit ?? textLimit)
        conversions.begin(process)
        defer { conversions.end(process) }
        let ending = await process.runInTask(opened.file)
        let after = EntryStatus(descriptor: opened.file)?.stamp
        return try result(of: ending, path, opened.stamp, after)
    }

    /// Turns the end of a conversion into a result.
    private func result(
        of ending: ConversionProcess.Ending, _ path: RelativePath, _ before: FileStamp, _ after: FileStamp?
    ) throws(FileSystemFailure) -> ExtractionResult {
        let outcome: ExtractionResult.Outcome
        switch ending {
        case .text(let bytes, let isTruncated):
            outcome = document(bytes, path, isTruncated: isTruncated)
        case .failed(let detail): outcome = .none(.conversionFailed, detail: detail)
        case .cancelled: throw FileSystemFailure(path: path, operation: "convert", code: EAGAIN)
        case .notStarted(ENOENT):
            outcome = .none(.converterMissing, detail: "prlimit is missing. Install the package util-linux.")
        case .notStarted(let code): throw FileSystemFailure(path: path, operation: "start the converter", code: code)
        }
        return ExtractionResult(outcome: outcome, stamp: before, changedMeanwhile: before != after)
    }

    /// Takes the text out of what a converter wrote.
    private func document(_ bytes: [UInt8], _ path: RelativePath, isTruncated: Bool) -> ExtractionResult.Outcome {
        let type = FileType(path)
        guard type == .compressed else {
            guard
                let document = ExtractedDocument(
                    converted: bytes, type: type, isTruncated: isTruncated, limit: textLimit)
            else {
                return .none(.conversionFailed, detail: "its parts are no text: the file is encrypted or damaged")
            }
            return .document(document)
        }
        let inner = FileType.inner(of: path)
        return ExtractedDocument(bytes, type: inner, isTruncated: isTruncated, limit: textLimit)
            .map { .document($0) } ?? .none(.binary, detail: "")
    }

    private static func missing(_ converter: DocumentConverter) -> ExtractionResult {
        ExtractionResult(
            outcome: .none(.converterMissing, detail: "\(converter.program) is missing. \(converter.remedy)"))
    }

    /// Makes a failure of the file a part of the result.
    private static func result(
        _ body: () throws(FileSystemFailure) -> ExtractionResult
    ) throws(FileSystemFailure) -> ExtractionResult {
        do throws(FileSystemFailure) {
            return try body()
        } catch  where error.isExhaustion && !isOfFile(error) {
            throw error
        } catch {
            return ExtractionResult(outcome: .none(reason(for: error), detail: error.description))
        }
    }

    /// Whether a code that can mean a shortage is about the file: one that gives no byte now, as many of `/proc` and a
    /// file with a lease do, says EAGAIN. To wait for it would hold up all files behind it.
    private static func isOfFile(_ failure: FileSystemFailure) -> Bool {
        failure.code == EAGAIN && ["open", "read", "stat"].contains(failure.operation)
    }

    private func readText(
        _ path: RelativePath, _ type: FileType, in root: RootFolder
    ) throws(FileSystemFailure) -> ExtractionResult {
        guard type != .binary else {
            return ExtractionResult(outcome: .none(.binaryName, detail: ""))
        }
        return try Self.result { () throws(FileSystemFailure) in try read(root.open(path), type: type) }
    }

    private func read(_ file: consuming OpenFile, type: FileType) throws(FileSystemFailure) -> ExtractionResult {
        let before = try file.stamp()
        let bytes = try file.read(limit: textLimit)
        let after = try file.stamp()
        let isTruncated = bytes.count == textLimit && after.size > Int64(textLimit)
        let outcome: ExtractionResult.Outcome =
            if let document = ExtractedDocument(bytes, type: type, isTruncated: isTruncated, limit: textLimit) {
                .document(document)
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

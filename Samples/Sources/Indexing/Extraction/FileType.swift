internal import TreeScan

/// The expected content of a file, by its name. The content itself decides.
enum FileType: Sendable, Equatable {
    /// Markdown: the first heading is the title.
    case markdown
    /// Source code, configuration or prose: text unless it contains a zero byte.
    case text
    /// HTML: the text between the tags.
    case html
    /// JSON: its strings, keys and numbers.
    case json
    /// Comma-separated values: the cells.
    case csv
    /// A mailbox, or a message: headers and parts of text.
    case mail
    /// PDF: the text that a converter takes out of it.
    case pdf
    /// Office Open XML: a zip archive of XML parts, which a converter unpacks.
    case openXML
    /// OpenDocument: the same with other parts.
    case openDocument
    /// A book: a zip archive of pages.
    case book
    /// One compressed file. The name without its end says what is in it.
    case compressed
    /// A format that is known not to be text. The file is not opened.
    case binary
    /// Decided by the content.
    case unknown

    init(_ path: RelativePath) {
        self.init(extension: path.fileExtension)
        guard self == .compressed else { return }
        switch Self.inner(of: path) {
        case .binary, .pdf, .openXML, .openDocument, .book, .compressed: self = .binary
        default: break
        }
    }

    /// The type of what is in a compressed file.
    static func inner(of path: RelativePath) -> FileType {
        FileType(extension: RelativePath(bytes: Array(path.bytes.dropLast(3))).fileExtension)
    }

    init(extension name: String?) {
        switch name {
        case .some(let name) where Self.markdownNames.contains(name): self = .markdown
        case .some(let name) where Self.structuredNames[name] != nil: self = Self.structuredNames[name] ?? .unknown
        case .some(let name) where Self.textNames.contains(name): self = .text
        case .some(let name) where Self.binaryNames.contains(name): self = .binary
        default: self = .unknown
        }
    }

    private static let markdownNames: Set<String> = ["md", "markdown", "mdown", "mkd"]

    private static let structuredNames: [String: FileType] = [
        "html": .html, "htm": .html, "xhtml": .html, "json": .json, "jsonl": .json, "ndjson": .json, "ipynb": .json,
        "geojson": .json, "csv": .csv, "tsv": .csv, "mbox": .mail, "eml": .mail, "pdf": .pdf,
        "docx": .openXML, "docm": .openXML, "dotx": .openXML, "xlsx": .openXML, "xlsm": .openXML, "xltx": .openXML,
        "pptx": .openXML, "pptm": .openXML, "ppsx": .openXML,
        "odt": .openDocument, "ods": .openDocument, "odp": .openDocument, "odg": .openDocument, "ott": .openDocument,
        "ots": .openDocument, "otp": .openDocument, "epub": .book, "gz": .compressed,
    ]

    private static let textNames: Set<String> = Set(
        """
        adoc asm awk bash bat bib c cc cfg cl clj cmake conf cpp cs css cxx d dart diff el erl ex exs f90 go gradle \
        groovy h hh hpp hs hxx ini java jl js jsx kt lisp log lua m4 mk ml mli mod nix org pas patch \
        php pl pm po properties proto ps1 py pyi r rb rs rst s scala scm sed sh sql sum svg swift tcl tex toml ts tsx \
        txt vb vim vue xml xsl yaml yml zig zsh
        """.split(separator: " ").map(String.init)
    )

    private static let binaryNames: Set<String> = Set(
        """
        7z a avi bmp bz2 class dll dylib eot exe flac gif ico iso jar jpeg jpg lz4 mkv mov mp3 mp4 o ogg otf png \
        pyc rar so sqlite sqlite3 tar tgz tif tiff ttf wasm wav webm webp woff woff2 xz zip zst
        """.split(separator: " ").map(String.init)
    )
}

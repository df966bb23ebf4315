internal import Glibc

/// A program that reads a file on its standard input and writes its text to its standard output.
///
/// It runs as a child process with the lowest CPU priority (nice 19) and the I/O class idle, within limits. It inherits
/// no variables but `PATH`.
public struct DocumentConverter: Sendable {
    /// `pdftotext` of poppler.
    public static let pdftotext = DocumentConverter(
        program: "pdftotext", arguments: ["-q", "-enc", "UTF-8", "/dev/stdin", "-"],
        remedy: "Install the package poppler-utils; the next pass reads the file.")

    /// `bsdtar` of libarchive, which unpacks the parts of office documents and books. The patterns of a format follow.
    ///
    /// The password keeps it from asking for one. An encrypted archive has another one, and is an error.
    public static let bsdtar = DocumentConverter(
        program: "bsdtar", arguments: ["--passphrase", "none", "-xOf", "-"], outputLimit: 16 << 20,
        remedy: "Install the package libarchive-tools; the next pass reads the file.")

    /// `gzip`.
    public static let gzip = DocumentConverter(
        program: "gzip", arguments: ["-dc"], remedy: "Install the package gzip; the next pass reads the file.")

    /// The name of the program, or its path.
    public var program: String
    /// Its arguments.
    public var arguments: [String]
    /// A sentence for people without the program.
    public var remedy: String
    /// The limit of processor time, in whole seconds, 1 or more.
    public var processorSeconds = 20
    /// The limit of time.
    public var time = Duration.seconds(60)
    /// The limit of its output, in bytes, whose rest is left out; nil for the limit of text.
    public var outputLimit: Int?
    /// The limit of address space, in bytes.
    public var memory = 1 << 30

    /// Makes a converter that may use 20 s of processor time, 60 s of time and 1 GiB of address space.
    public init(program: String, arguments: [String] = [], outputLimit: Int? = nil, remedy: String) {
        self.program = program
        self.arguments = arguments
        self.outputLimit = outputLimit
        self.remedy = remedy
    }

    /// The path of the program, from the folders of `PATH`; nil if it is in none.
    var path: String? {
        if program.contains("/") { return unsafe access(program, X_OK) == 0 ? program : nil }
        return Self.folders.split(separator: ":").map { "\($0)/\(program)" }.first { unsafe access($0, X_OK) == 0 }
    }

    /// The program with the programs that set its limits and priorities and then become it. There is no moment without
    /// limits.
    var command: [String] {
        [
            "prlimit", "--cpu=\(max(1, processorSeconds))", "--as=\(memory)", "--fsize=0", "--core=0",
            "nice", "-n", "19", "ionice", "-t", "-c", "3", program,
        ] + arguments
    }

    static var folders: String {
        let own = unsafe getenv("PATH").map { unsafe String(cString: $0) }
        return own ?? "/usr/local/bin:/usr/bin:/bin"
    }
}

import Foundation
import SampleTestSupport
import Testing

@testable import TreeScan

@Suite("Ignore rules")
struct IgnoreTests {
    /// Returns what the lines say about a path; a slash at its end marks a folder.
    private func isIgnored(_ lines: String, _ path: String) -> Bool? {
        let names = path.split(separator: "/").map { NameCharacters($0.utf8) }
        return IgnoreRules(Array(lines.utf8)).isIgnored(names[...], isFolder: path.hasSuffix("/"))
    }

    @Test(
        "each pattern matches as gitignore(5) says",
        arguments: [
            ("*.log", "a.log", true), ("*.log", "d/e/a.log", true), ("*.log", "a.log.txt", nil),
            ("*.log", ".log", true),
            ("/a", "a", true), ("/a", "d/a", nil), ("d/a", "d/a", true), ("d/a", "e/d/a", nil),
            ("build/", "build/", true), ("build/", "build", nil), ("build/", "d/build/", true),
            ("/build/", "d/build/", nil), ("a?c", "abc", true), ("a?c", "ac", nil), ("a?c", "aöc", true),
            ("[a-c]x", "bx", true), ("[a-c]x", "dx", nil), ("[!a-c]x", "dx", true), ("[^a-c]x", "bx", nil),
            ("[]a]x", "]x", true), ("[a-]x", "-x", true), ("[[:digit:]]x", "7x", true), ("[[:digit:]]x", "ax", nil),
            ("[\\]]x", "]x", true), ("[ä-ü]x", "öx", true), ("**/a", "a", true), ("**/a", "d/e/a", true),
            ("a/**", "a/", nil), ("a/**", "a/b/c", true), ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true),
            ("a/**/b", "x/a/b", nil), ("a**b", "axxb", true), ("d/*", "d/a", true), ("d/*", "d/e/a", nil),
            ("*", "a", true), ("**", "a/b", true), ("# a", "# a", nil), ("\\#a", "#a", true), ("\\!a", "!a", true),
            ("a\\ ", "a ", true), ("a ", "a", true), ("a\r", "a", true), ("\u{FEFF}a", "a", true), ("A", "a", nil),
            ("*.log\n!keep.log", "keep.log", false), ("!keep.log\n*.log", "keep.log", true), ("", "a", nil),
            ("a*b*c*d", "a1b2c3d", true), ("a\\*b", "a*b", true), ("a\\*b", "axb", nil),
        ] as [(String, String, Bool?)])
    func matches(lines: String, path: String, expected: Bool?) {
        #expect(isIgnored(lines, path) == expected, "\(lines.debugDescription) on \(path)")
    }

    @Test(
        "a line that is no pattern is reported with its number, and the others hold",
        arguments: [
            ("[ab", "not closed"), ("a//b", "two slashes"), ("/", "names nothing"), ("!", "names nothing"),
            ("a\\", "backslash"), ("[z-a]", "backwards"), ("[a\\", "not closed"),
            (String(repeating: "a", count: 5000), "longer than"),
        ])
    func reports(line: String, reason: String) throws {
        var found: [(line: Int, reason: String)] = []
        let rules = IgnoreRules(Array("*.log\n\(line)\n*.tmp".utf8)) { found.append(($0, $1)) }
        #expect(rules.patterns.count == 2)
        #expect(try #require(found.first).line == 2 && found[0].reason.contains(reason))
    }

    @Test("a file with too many patterns is cut, and reported once")
    func limitsCount() {
        var found: [Int] = []
        let text = String(repeating: "a\n", count: IgnoreRules.countLimit + 5)
        let rules = IgnoreRules(Array(text.utf8)) { line, _ in found.append(line) }
        #expect(rules.patterns.count == IgnoreRules.countLimit)
        #expect(found == [IgnoreRules.countLimit + 1])
    }

    @Test("random bytes never fail, and a hostile pattern is compared in polynomial time")
    func survivesNoise() {
        for seed in 0..<200 as Range<UInt64> {
            let rules = IgnoreRules(SeededGenerator.noise(500, seed: seed))
            let name = NameCharacters(SeededGenerator.noise(40, seed: seed + 1000))
            _ = rules.isIgnored([name, name], isFolder: false)
        }
        let pattern = String(repeating: "*a", count: 60) + "b"
        #expect(isIgnored(pattern, String(repeating: "a", count: 250)) == nil)
        let deep = String(repeating: "**/a/", count: 30) + "b"
        #expect(isIgnored(deep, String(repeating: "a/", count: 250)) == nil)
    }

    /// Compares with git itself: random trees of names, random patterns. Only ASCII, as git counts bytes.
    @Test(
        "random rules leave out what git leaves out",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/git")), arguments: [1, 2, 3, 4])
    func equalsGit(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var generator = SeededGenerator(seed: seed)
        let names = ["a", "b", "ab", "a.b", "abc", "#a", "[a]"]
        let parts = ["a", "b", "*", "?", "**", "a*", "*b", "[a-b]", "[!a]", "ab", "\\#a", "[[]a]", "a.b", "*.*"]
        func pick(_ list: [String]) -> String { list.randomElement(using: &generator) ?? "" }
        var paths: Set<String> = []
        for _ in 0..<40 {
            let path = (0..<Int.random(in: 1...3, using: &generator)).map { _ in pick(names) }.joined(separator: "/")
            guard !folder.exists(path) else { continue }
            if (try? folder.write(path, "x")) != nil { paths.insert(path) }
        }
        _ = try output(of: ["init", "-q", folder.path], input: "")
        for place in ["", "a/", "b/"] where place.isEmpty || folder.exists(place) {
            let lines = (0..<6).map { _ in
                let path = (0..<Int.random(in: 1...3, using: &generator)).map { _ in pick(parts) }
                return pick(["", "", "!"]) + pick(["", "", "/"]) + path.joined(separator: "/") + pick(["", "", "/"])
            }
            try folder.write(place + ".gitignore", lines.joined(separator: "\n"))
            paths.insert(place + ".gitignore")
        }
        let arguments = ["-C", folder.path, "-c", "core.excludesFile=/dev/null", "check-ignore", "--stdin", "-z"]
        let ignored = Set(
            try output(of: arguments, input: paths.joined(separator: "\0")).split(separator: "\0").map(String.init))
        let scanner = try TreeScanner(
            root: RootFolder(folder.path), options: ScanOptions(ignoreFiles: [".gitignore"]))
        var seen: Set<String> = []
        while let event = scanner.next() {
            if case .file(let path, _) = event { seen.insert(path.description) }
        }
        #expect(seen == paths.subtracting(ignored), "seed \(seed)")
        #expect(scanner.ignoreProblems.isEmpty)
    }

    private func output(of arguments: [String], input: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/git")
        process.arguments = arguments
        let (source, sink) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (source, sink)
        try process.run()
        try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try source.fileHandleForWriting.close()
        let data = try sink.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}

@Suite("Ignore files in a walk")
struct IgnoreWalkTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func scan(at start: RelativePath = .root) throws -> (files: [String], problems: [IgnoreProblem]) {
        let options = ScanOptions(ignoreFiles: [".ignore", ".gitignore"])
        let scanner = try TreeScanner(root: RootFolder(folder.path), at: start, options: options)
        var files: [String] = []
        while let event = scanner.next() {
            if case .file(let path, _) = event, !path.description.hasSuffix("ignore") { files.append(path.display) }
        }
        return (files.sorted(), scanner.ignoreProblems)
    }

    @Test("a deeper file outranks a higher one, and .ignore outranks .gitignore at any depth")
    func ranks() throws {
        for name in ["a.log", "d/a.log", "d/b.log", "d/c.txt"] { try folder.write(name, "x") }
        try folder.write(".gitignore", "*.log")
        try folder.write("d/.gitignore", "!b.log")
        #expect(try scan().files == ["d/b.log", "d/c.txt"])
        try folder.write(".ignore", "b.log\n!a.log")
        #expect(try scan().files == ["a.log", "d/a.log", "d/c.txt"])
    }

    @Test("nothing below an ignored folder comes back")
    func keepsFoldersOut() throws {
        try folder.write("build/keep.txt", "x")
        try folder.write("a.txt", "x")
        try folder.write(".gitignore", "build/\n!build/keep.txt")
        #expect(try scan().files == ["a.txt"])
    }

    @Test("a walk from a folder below knows the rules above it, and reports nothing of an ignored folder")
    func startsBelow() throws {
        for name in ["d/e/a.log", "d/e/b.txt", "d/c.txt", "x/y/a.txt"] { try folder.write(name, "x") }
        try folder.write(".gitignore", "*.log\n/x")
        #expect(try scan(at: "d/e").files == ["d/e/b.txt"])
        #expect(try scan(at: "d").files == ["d/c.txt", "d/e/b.txt"])
        #expect(try scan(at: "x/y").files == [])
        #expect(try scan(at: "gone/y").files == [])
        #expect(try scan(at: "d/c.txt").files == [])
    }

    @Test("names that are no UTF-8 are compared by bytes")
    func comparesBytes() throws {
        try folder.writeFile([0xFF, 0x61])
        try folder.writeFile([0xFE, 0x61])
        try folder.write(".ignore", bytes: [0xFF, 0x2A])
        #expect(try scan().files == ["\\xFEa"])
    }

    @Test("a bad line, a link and a file without end are reported, and the walk goes on")
    func reportsProblems() throws {
        try folder.write("d/a.txt", "x")
        try folder.write(".ignore", "[\n*.log")
        try folder.makeLink(".gitignore", to: "d/a.txt")
        try folder.makeSparse("d/.gitignore", "a.txt\n", size: 3 << 20)
        let (files, problems) = try scan()
        #expect(files == [])
        #expect(problems.map(\.path) == [".ignore", "d/.gitignore", "d/.gitignore"])
        #expect(problems.map(\.line) == [1, 0, 2])
    }
}

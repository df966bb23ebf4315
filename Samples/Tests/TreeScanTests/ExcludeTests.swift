import SampleTestSupport
import Testing

@testable import TreeScan

@Suite("Patterns for a whole tree")
struct ExcludeTests {
    @Test(
        "a pattern leaves out an entry, and all below a folder",
        arguments: [
            (["*.log"], "a.log", true), (["*.log"], "d/a.log", true), (["*.log"], "a.txt", false),
            (["build/"], "build", false), (["build/"], "build/", true), (["build/"], "d/build/x/y", true),
            (["/build"], "d/build", false), (["/build"], "build/x", true), (["d/*.tmp"], "d/a.tmp", true),
            (["d/*.tmp"], "e/d/a.tmp", false), (["*.log", "!keep.log"], "d/keep.log", false),
            (["!keep.log", "*.log"], "keep.log", true), (["d/", "!d/keep"], "d/keep", true), ([], "a", false),
            (["d/*", "!d/keep"], "d/keep", false), (["d/*", "!d/keep"], "d/other", true),
        ] as [([String], String, Bool)])
    func excludes(patterns: [String], path: String, expected: Bool) throws {
        let isFolder = path.hasSuffix("/")
        let rules = try ExcludeRules(patterns)
        #expect(rules.exclude(RelativePath(isFolder ? String(path.dropLast()) : path), isFolder: isFolder) == expected)
    }

    @Test(
        "a text that is no pattern is an error that names it",
        arguments: [
            ("", "names nothing"), ("# a", "names nothing"), ("[a", "not closed"), ("a//b", "two slashes"),
            ("./a", "match nothing"), ("../a", "match nothing"), ("a/../b", "match nothing"),
            ("!/a/./", "match nothing"),
            ("a\nb", "one line"), ("a\0", "one line"), (String(repeating: "a", count: 5000), "longer than"),
        ])
    func refuses(pattern: String, reason: String) {
        #expect {
            _ = try ExcludeRules(["*.log", pattern])
        } throws: {
            "\($0)".contains(reason)
        }
    }

    @Test("a file has one pattern a line; a wrong line is named by its number")
    func files() throws {
        let folder = try TemporaryFolder()
        try folder.write("good", "\u{FEFF}# comment\n\n*.log\r\nbuild/\n!keep.log")
        #expect(try ExcludeRules.patterns(in: folder["good"]) == ["*.log", "build/", "!keep.log"])
        try folder.write("bad", "*.log\n[a\n")
        try folder.write("bytes", bytes: [0x61, 0xFF, 0x0A])
        // Names need not be UTF-8, so patterns need not either.
        #expect(try ExcludeRules.patterns(in: folder["bytes"]).count == 1)
        for (name, text) in [("bad", "Line 2 of"), ("none", "cannot be read")] {
            #expect {
                _ = try ExcludeRules.patterns(in: folder[name])
            } throws: {
                "\($0)".contains(text)
            }
        }
    }
}

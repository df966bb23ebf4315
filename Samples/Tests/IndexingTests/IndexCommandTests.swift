import Foundation
import SampleTestSupport
import Testing

@Suite("The command qos-index", .serialized)
struct IndexCommandTests {
    let temporary: TemporaryFolder
    let place: TemporaryFolder
    let output: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
        place = try TemporaryFolder()
        output = try TemporaryFolder()
        try temporary.write("docs/one.md", "# Title\nThe quick brown fox")
        try temporary.write("docs/two.html", "<p class=lazy>A quick note</p>")
        try temporary.write("notes/three.txt", "quick and older")
        try temporary.setTime("notes/three.txt", 1_700_000_000, 0)
    }

    private func run(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandRun {
        let place = environment.isEmpty ? ["--index", place["index"]] : []
        return try CommandRun("qos-index", arguments + place, environment: environment, in: output)
    }

    /// The paths of the hits of a search, below the temporary folder.
    private func found(_ query: String) throws -> [String] {
        let run = try run("search", query, "--json")
        #expect(run.status == 0, "\(run.errors)")
        return try run.output.split(separator: "\n").map { line -> String in
            let hit = try JSONDecoder().decode(Hit.self, from: Data(line.utf8))
            return "\(hit.folder.dropFirst(temporary.path.count + 1))/\(hit.path)"
        }.sorted()
    }

    private struct Hit: Decodable {
        let folder: String
        let path: String
    }

    @Test("with --substrings parts of words are found; without it the command says what to do")
    func substrings() throws {
        #expect(try run("add", temporary["docs"]).status == 0)
        let refused = try run("search", "--syntax", "substrings", "rown")
        #expect(refused.status == 1 && refused.errors.contains("--substrings"), "\(refused.errors)")
        let late = try run("add", "--substrings", temporary["docs"])
        #expect(late.status == 1 && late.errors.contains("Remove the index"), "\(late.errors)")
        #expect(try run("remove", temporary["docs"]).status == 0)
        #expect(try run("add", "--substrings", temporary["docs"]).status == 0)
        let found = try run("search", "--syntax", "substrings", "rown")
        #expect(found.status == 0 && found.output.contains("one.md"), "\(found.output)\(found.errors)")
        // The choice stays with the index.
        #expect(try run("add", temporary["docs"]).status == 0)
    }

    @Test("a file below 1,500 folders is found")
    func deep() throws {
        let path = temporary["docs"] + String(repeating: "/d", count: 1500)
        let script = #"mkdir -p "$1" && echo bottomless >"$1/deep.txt""#
        let made = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", script, "shell", path])
        made.waitUntilExit()
        try #require(made.terminationStatus == 0)
        let added = try run("add", temporary["docs"])
        #expect(added.status == 0, "\(added.errors)")
        #expect(try found("bottomless").count == 1)
        // Foundation's removal takes a path, and one for each folder.
        try Process.run(URL(filePath: "/bin/rm"), arguments: ["-rf", temporary["docs/d"]]).waitUntilExit()
    }

    @Test("with --stem forms of words are found together, and the choice stays with the index")
    func stems() throws {
        #expect(try run("add", "--stem", "german", "--stem", "english", temporary["docs"]).status == 0)
        #expect(try found("notes quick").isEmpty == false)
        #expect(try run("add", temporary["docs"]).status == 0)
        #expect(try found("notes quick").isEmpty == false)
        #expect(try run("add", temporary["notes"]).status == 0)
        let late = try run("add", "--stem", "english", temporary["notes"])
        #expect(late.status == 1 && late.errors.contains("without word forms"), "\(late.errors)")
        #expect(try run("add", "--stem", "klingon", temporary["docs"]).status == 64)
    }

    @Test("a wrong query is said once for all folders; a folder that cannot answer leaves the others' hits")
    func failures() throws {
        #expect(try run("add", temporary["docs"]).status == 0)
        #expect(try run("add", "--substrings", temporary["notes"]).status == 0)
        let wrong = try run("search", "--syntax", "fts", "quick\"")
        #expect(wrong.status == 1)
        #expect(wrong.errors.components(separatedBy: "is not valid FTS5").count == 2, "\(wrong.errors)")
        #expect(wrong.errors.contains(temporary["docs"]) && wrong.errors.contains(temporary["notes"]))
        let some = try run("search", "--syntax", "substrings", "uick")
        #expect(some.status == 3 && some.output.contains("three.txt"), "\(some.output)\(some.errors)")
        #expect(some.errors.contains("without substrings"))
    }

    @Test("phrases, excluded words, quoted filters and the order mean the same as elsewhere; an unknown option is none")
    func language() throws {
        #expect(try run("add", temporary["docs"], temporary["notes"]).status == 0)
        #expect(try found("\"quick brown\"") == ["docs/one.md"])
        let excluded = try run("search", "quick", "-brown", "--json")
        #expect(excluded.status == 0 && !excluded.output.contains("one.md"), "\(excluded.output)\(excluded.errors)")
        let newest = try run("search", "quick", "--sort", "modified")
        #expect(
            newest.output.range(of: "three.txt")?.lowerBound ?? newest.output.startIndex > newest.output.range(
                of: "one.md")?.lowerBound ?? newest.output.endIndex)
        #expect(try run("search", "path:three", "modified:2023").output.contains("three.txt"))
        let option = try run("search", "quick", "--limt")
        #expect(option.status == 64 && option.errors.contains("no option --limt"), "\(option.errors)")
        let wrong = try run("search", "modified:soon")
        #expect(wrong.status == 64 && wrong.errors.contains("no day of the calendar"), "\(wrong.errors)")
        let none = try run("search", "qiuck")
        #expect(none.errors.contains("There are files with: quick"), "\(none.errors)")
    }

    @Test("a folder in an indexed one is told at once, and each of its files is one hit")
    func overlap() throws {
        try temporary.write("docs/deep/four.txt", "quick and deep")
        #expect(try run("add", temporary["docs"]).status == 0)
        let inner = try run("add", temporary["docs/deep"])
        #expect(inner.status == 0 && inner.errors.contains("lies in \(temporary["docs"])"), "\(inner.errors)")
        #expect(try found("quick") == ["docs/deep/four.txt", "docs/one.md", "docs/two.html"])
        #expect(try run("search", "quick").output.contains("3 of 3 files."))
    }

    @Test("from the first folder to the removal of the last")
    func day() throws {
        #expect(try run("status").output.contains("No folder is indexed"))
        #expect(try run("search", "quick").status == 1)
        let added = try run("add", temporary["docs"], temporary["notes"])
        #expect(added.status == 0 && added.output.contains("2 files indexed"), "\(added.output)\(added.errors)")
        #expect(try found("quick") == ["docs/one.md", "docs/two.html", "notes/three.txt"])
        #expect(try found("quick fo") == ["docs/one.md"])
        #expect(try found("lazy") == [])
        let text = try run("search", "quick brown")
        #expect(text.output.contains("\(temporary["docs"])/one.md:2\n    "), "\(text.output)")
        #expect(text.output.contains("1 of 1 file."))

        try temporary.write("docs/.gitignore", "two.html")
        try temporary.write("docs/four.txt", "quick too")
        #expect(try run("add", temporary["docs"]).status == 0)
        #expect(try found("quick") == ["docs/four.txt", "docs/one.md", "notes/three.txt"])
        #expect(try run("add", "--no-ignore", temporary["docs"]).status == 0)
        #expect(try found("note") == ["docs/two.html"])

        let status = try run("status", "--json")
        #expect(status.status == 0 && status.output.split(separator: "\n").count == 2)
        #expect(status.output.contains("\"pending\":0"))
        #expect(try run("compact").status == 0)
        #expect(try found("quick").count == 4)

        #expect(try run("remove", temporary["docs"]).status == 0)
        #expect(try found("quick") == ["notes/three.txt"])
        #expect(try run("remove", temporary["docs"]).status == 1)
        #expect(try temporary.read("docs/one.md").contains("fox"), "the folder itself stays")
    }

    @Test("filters choose files by path, extension and day")
    func filters() throws {
        #expect(try run("add", temporary["docs"], temporary["notes"]).status == 0)
        #expect(try found("quick ext:md,.txt") == ["docs/one.md", "notes/three.txt"])
        #expect(try found("quick path:ONE") == ["docs/one.md"])
        #expect(try found("quick modified:2023-11-14") == ["notes/three.txt"])
        #expect(try found("quick modified:..2023-11-13") == [])
        #expect(try found("quick modified:2023-11-15..") == ["docs/one.md", "docs/two.html"])
        #expect(try found("quick modified:3d ext:html") == ["docs/two.html"])
        for query in ["quick ext:", "quick modified:never", "quick modified:..", "quick modified:2023-13-01"] {
            let run = try run("search", query)
            #expect(run.status == 64 && run.errors.contains("The filter"), "\(query): \(run.status) \(run.errors)")
        }
    }

    @Test("wrong arguments, a missing folder and an index in use are errors with a remedy")
    func refuses() throws {
        #expect(try run("search", "").status == 64)
        #expect(try run("search", "--limit", "0", "x").status == 64)
        #expect(try run("watch", "--interval", "0").status == 64)
        let missing = try run("add", temporary["none"])
        #expect(missing.status == 1 && missing.errors.contains("does not exist"), "\(missing.errors)")
        #expect(try run("status").output.contains("No folder is indexed"))
    }

    @Test("the default place is below XDG_DATA_HOME, for this user alone")
    func usesDataHome() throws {
        let environment = ["XDG_DATA_HOME": place.path, "HOME": "/nonexistent"]
        #expect(try run("add", temporary["notes"], environment: environment).status == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: place["qos-index"])
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        #expect(try run("search", "older", environment: environment).output.contains("three.txt"))
    }

    @Test("a watched folder is searched meanwhile, follows changes, and ends in order")
    func watches() throws {
        #expect(try run("add", temporary["docs"], temporary["notes"]).status == 0)
        let logs = try TemporaryFolder()
        let watch = try StartedCommand(
            "qos-index", ["watch", "--interval", "1", "--index", place["index"]], in: logs, readsLines: true)
        // One line for each folder once it is up to date.
        #expect(watch.nextLine()?.contains("files indexed") == true)
        #expect(watch.nextLine()?.contains("files indexed") == true)
        #expect(try run("status").output.contains("open in process \(watch.identifier)"))
        let busy = try run("add", temporary["docs"])
        #expect(busy.status == 1 && busy.errors.contains("process \(watch.identifier)"), "\(busy.errors)")
        #expect(try run("remove", temporary["docs"]).status == 1)
        try temporary.write("docs/new/five.txt", "zanzibar")
        // Files of the last two seconds are read again, so other lines may come before.
        while let line = watch.nextLine(), !line.contains("3 files indexed") {}
        #expect(try found("zanzibar") == ["docs/new/five.txt"])
        watch.terminate()
        #expect(watch.waitUntilExit() == 128 + 15)
        #expect(try run("add", temporary["docs"]).status == 0)
    }

    @Test("a kill at any moment leaves an index that the next run completes", arguments: 1...4 as ClosedRange<UInt64>)
    func survivesKills(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for number in 0..<300 { try temporary.write("docs/many/\(number).txt", "quick word\(number)") }
        for _ in 0..<3 {
            let add = try StartedCommand(
                "qos-index", ["add", temporary["docs"], "--index", place["index"]], in: output)
            _ = add.kill(within: 400_000, using: &generator)
        }
        #expect(try run("add", temporary["docs"]).status == 0)
        #expect(try found("word299") == ["docs/many/299.txt"])
        let status = try run("status", "--json")
        #expect(status.output.contains("\"indexed\":302"), "\(status.output)")
    }
}

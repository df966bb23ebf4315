import Backup
import Foundation
import Glibc
import Logging
import SampleTestSupport
import Sync
import Testing
import TreeScan

@testable import qos_service

@Suite("What an owner asks", .serialized, .timeLimit(.minutes(5)))
struct OwnerRouteTests {
    struct Home: Decodable {
        struct Work: Decodable {
            let last: Double?
            let hasFailed: Bool
        }

        let path: String?
        let saved: Double?
        let backup: Work?
        let sync: Work?
        let conflicts: Int
        let notRead: Int
        let paused: [String]
    }

    struct Conflicts: Decodable {
        struct Item: Decodable {
            let name: String
            let original: String
            let side: String
        }

        let conflicts: [Item]
    }

    struct Versions: Decodable {
        struct Version: Decodable {
            let snapshot: String
            let path: String
            let size: Int
            let snapshots: Int
        }

        let versions: [Version]
    }

    struct Entries: Decodable {
        struct Entry: Decodable {
            let path: String
            let kind: String
        }

        let entries: [Entry]
    }

    struct Changes: Decodable {
        struct Change: Decodable {
            let path: String
            let kind: String
        }

        let changes: [Change]
    }

    struct Activity: Decodable {
        struct File: Decodable {
            let time: Double
            let what: String
            let name: String
        }

        struct Entry: Decodable {
            let kind: String
            let text: String
            let time: Double
            let hasFailed: Bool
            let files: [File]?
        }

        let entries: [Entry]
    }

    let world: HostingWorld

    init() throws {
        world = try HostingWorld()
    }

    private func get<Value: Decodable>(_ service: ServiceProcess, _ path: String, _ type: Value.Type) throws -> Value {
        let answer = try HTTPAnswer(
            port: service.port, path: path, fields: ["Authorization": "Bearer \(service.token)"])
        #expect(answer.status == 200, "\(path): \(answer.text)")
        return try answer.decode(type)
    }

    private func wait<Value: Decodable>(
        _ service: ServiceProcess, _ path: String, _ type: Value.Type, until isReached: (Value) -> Bool
    ) throws -> Value {
        while true {
            let value = try get(service, path, type)
            if isReached(value) { return value }
        }
    }

    private func save() async throws {
        let repository = try Repository.open(at: world.repository, passphrase: Array(HostingWorld.passphrase.utf8))
        _ = try await BackupRun(repository, folder: world.served.path).run()
    }

    @Test("a conflict of the sync is counted, listed, logged and compared, and a choice ends it on both sides")
    func showsConflicts() throws {
        try world.served.write("note.txt", "one\nserved\nthree\n")
        try world.state.write("other/note.txt", "one\nother\nthree\n")
        let service = try world.start(world.sync + ["--governor", "off", "--log-level", "warning"])
        _ = try wait(service, "/home", Home.self) { $0.conflicts == 1 && $0.sync?.last != nil }
        let item = try #require(try get(service, "/conflicts", Conflicts.self).conflicts.first)
        #expect(item.original == "note.txt" && ["A", "B"].contains(item.side))
        let metrics = try service.get("/metrics").text
        #expect(
            metrics.contains("qos_service_sync_open_conflicts 1")
                && metrics.contains("qos_service_sync_conflicts_total 1"))
        #expect(try world.state.read("errors").contains("sync conflict"))
        let activity = try get(service, "/activity", Activity.self)
        #expect(activity.entries.contains { $0.kind == "sync" && $0.text.contains("1 conflict") })
        let texts = try HTTPAnswer(
            port: service.port, path: "/conflicts/text?path=\(item.name)",
            fields: ["Authorization": "Bearer \(service.token)"]
        ).text
        #expect(texts.contains("served") && texts.contains("other"))

        #expect(try service.post("/conflicts?path=note.txt&keep=copy").status == 400)
        #expect(try service.post("/conflicts?path=\(item.name)&keep=none").status == 400)
        #expect(
            try HTTPAnswer(port: service.port, path: "/conflicts?path=\(item.name)&keep=copy", method: "POST").status
                == 401)
        let before = try world.served.read(item.name)
        let done = try service.post("/conflicts?path=\(item.name)&keep=copy")
        #expect(done.status == 200 && done.text.contains("note.txt is now"), "\(done.text)")
        #expect(try world.served.read("note.txt") == before)
        _ = try wait(service, "/home", Home.self) { $0.conflicts == 0 }
        while try world.state.read("other/note.txt") != before { _ = try service.get("/home") }
    }

    @Test("a file has its earlier versions from the snapshots, which can be browsed, compared and downloaded")
    func showsVersions() async throws {
        try world.served.write("docs/plan.txt", "first")
        try world.served.write("docs/old.txt", "old")
        try await save()
        try await save()
        try world.served.write("docs/plan.txt", "second version")
        try world.served.remove("docs/old.txt")
        try await save()
        let service = try world.start(world.backup + ["--backup-interval", "86400", "--governor", "off"])
        let home = try wait(service, "/home", Home.self) { $0.saved != nil && $0.backup != nil }
        #expect(home.path == world.served.path && home.conflicts == 0)

        let versions = try get(service, "/versions?path=docs/plan.txt", Versions.self).versions
        #expect(versions.map(\.size) == [14, 5])
        #expect(versions.last?.snapshots == 2)
        let first = try #require(versions.last)
        let whole = try service.get("/snapshots/file?snapshot=\(first.snapshot)&path=\(first.path)")
        #expect(whole.text == "first" && whole.head.contains("attachment"))

        let entries = try get(service, "/snapshots/files?snapshot=\(first.snapshot)&path=docs", Entries.self).entries
        #expect(
            entries.map(\.path) == ["docs/old.txt", "docs/plan.txt"] && entries.allSatisfy { $0.kind == "regular" })
        let changes = try get(
            service, "/snapshots/changes?snapshot=\(versions[0].snapshot)&before=\(first.snapshot)", Changes.self
        ).changes
        #expect(changes.map { "\($0.kind) \($0.path)" } == ["removed docs/old.txt", "changed docs/plan.txt"])

        for (path, status) in [
            ("/snapshots/file?snapshot=none&path=docs", 404), ("/snapshots/file?snapshot=latest&path=none", 404),
            ("/snapshots/file?snapshot=latest&path=docs", 403), ("/snapshots/files?snapshot=latest&path=../x", 400),
            ("/snapshots/files", 400), ("/versions", 400), ("/snapshots/files?snapshot=latest&path=docs/plan.txt", 404),
        ] {
            #expect(try service.get(path).status == status, "\(path)")
        }
        #expect(try HTTPAnswer(port: service.port, path: "/versions?path=docs/plan.txt").status == 401)
    }

    @Test("the state at a glance, and what was done, are there again after a restart")
    func remembers() throws {
        try world.served.write("a.txt", "a")
        let first = try world.start(world.backup + world.sync + ["--governor", "off"])
        let before = try wait(first, "/home", Home.self) {
            $0.saved != nil && $0.backup?.last != nil && $0.sync?.last != nil
        }
        first.send(SIGTERM)
        #expect(first.wait().status == 0)
        let second = try world.start(world.backup + world.sync + ["--governor", "off"])
        let after = try get(second, "/home", Home.self)
        #expect(after.saved == before.saved && after.backup?.last == before.backup?.last)
        let entries = try get(second, "/activity", Activity.self).entries
        let saved = try #require(entries.first { $0.kind == "backup" && $0.text.contains("1 file,") })
        #expect(saved.files?.map(\.name) == ["a.txt"] && saved.files?.first?.what == "saved")
        let synced = try #require(entries.first { $0.kind == "sync" && $0.text.contains("1 file copied") })
        #expect(synced.files?.map(\.name) == ["a.txt"] && synced.files?.first?.what == "copied to A")
        for entry in [saved, synced] {
            let time = try #require(entry.files?.first?.time)
            #expect(time > entry.time - 60 && time <= entry.time + 1)
        }
    }

    @Test("a removal and a file that could not be saved are named, and lists have an end")
    func namesFiles() throws {
        for number in 0..<120 { try world.served.write("d/f\(number)", "a") }
        try world.served.write("gone.txt", "a")
        let service = try world.start(world.backup + world.sync + ["--governor", "off"])
        while !world.state.exists("other/gone.txt") { _ = try service.get("/status") }
        let first = try wait(service, "/activity", Activity.self) { $0.entries.contains { $0.kind == "sync" } }
        #expect(first.entries.allSatisfy { $0.files?.count ?? 0 <= 100 })
        try world.served.remove("gone.txt")
        let answer = try wait(service, "/activity", Activity.self) { activity in
            activity.entries.contains {
                $0.files?.contains { $0.name == "gone.txt" && $0.what == "removed on A" } ?? false
            }
        }
        #expect(!answer.entries.contains { $0.files?.contains { $0.name.hasPrefix("/") } ?? false })
    }

    @Test("in the open mode nobody without the token learns a path of this machine")
    func hidesPaths() throws {
        try world.served.write("a.txt", "a")
        let service = try world.start(world.backup + world.sync + ["--access", "open", "--governor", "off"])
        try service.status { $0.pending == 0 && $0.state == "idle" && $0.files > 0 }
        while try HTTPAnswer(port: service.port, path: "/workloads").decode(WorkloadsAnswer.self).items.count < 4 {}
        for path in ["/home", "/status", "/workloads", "/search?q=a", "/metrics", "/file?path=a.txt", "/healthz", "/"] {
            let answer = try HTTPAnswer(port: service.port, path: path)
            #expect(answer.status == 200, "\(path)")
            #expect(!answer.text.contains(world.served.path) && !answer.text.contains(world.state.path), "\(path)")
        }
        for path in ["/activity", "/conflicts", "/snapshots", "/versions?path=a.txt", "/files"] {
            #expect(try HTTPAnswer(port: service.port, path: path).status == 401, "\(path)")
        }
    }

    @Test("a folder that was removed and made again is the one that requests see")
    func followsFolder() throws {
        try world.served.write("a.txt", "old")
        let service = try world.start([])
        let fields = ["Authorization": "Bearer \(service.token)"]
        #expect(try HTTPAnswer(port: service.port, path: "/files?path=a.txt", fields: fields).text == "old")
        try FileManager.default.removeItem(atPath: world.served.path)
        let gone = try HTTPAnswer(port: service.port, path: "/files?path=a.txt", fields: fields)
        #expect(gone.status == 503 && gone.text.contains("not there now"), "\(gone.text)")
        try FileManager.default.createDirectory(atPath: world.served.path, withIntermediateDirectories: true)
        try world.served.write("b.txt", "new")
        #expect(try HTTPAnswer(port: service.port, path: "/files?path=b.txt", fields: fields).text == "new")
        #expect(try HTTPAnswer(port: service.port, path: "/files?path=a.txt", fields: fields).status == 404)
    }

    @Test("a browser without the token gets a field for it, a program the sentence")
    func asksForToken() throws {
        try world.served.write("a.txt", "a")
        let service = try world.start([])
        let page = try HTTPAnswer(port: service.port, path: "/", fields: ["Accept": "text/html,*/*"])
        #expect(page.status == 401 && page.text.contains("<input id=\"token\""))
        #expect(try HTTPAnswer(port: service.port, path: "/page.css").status == 200)
        let program = try HTTPAnswer(port: service.port, path: "/")
        #expect(program.status == 401 && program.text.contains("Authorization: Bearer"))
    }

    @Test("a file opens by its path, with the matches of the query marked and listed")
    func opensByPath() throws {
        struct File: Decodable {
            let lines: [String]
            let matches: [Int]
        }
        try world.served.write("a b/c.txt", "one\nneedle two\nthree ⟦x⟧\nneedle")
        let service = try world.start([])
        try service.status { $0.pending == 0 && $0.state == "idle" && $0.files > 0 }
        let marked = try service.get("/file?path=a%20b/c.txt&q=needle").decode(File.self)
        #expect(marked.lines == ["one", "⟦needle⟧ two", "three 〚x〛", "⟦needle⟧"] && marked.matches == [2, 4])
        let plain = try service.get("/file?path=a%20b/c.txt").decode(File.self)
        #expect(plain.lines[2] == "three ⟦x⟧" && plain.matches.isEmpty)
        #expect(try service.get("/file?path=none").status == 404)
        #expect(try service.get("/file?path=../x").status == 400)
        #expect(try service.get("/search?q=needle&sort=size").status == 400)
        #expect(try service.get("/search?q=needle&sort=modified").status == 200)
        let hint = try service.get("/search?q=neeedle").text
        #expect(hint.contains("\"query\":\"needle\"") && hint.contains("spelling"), "\(hint)")
    }
}

@Suite("Conflicts and activity, as values")
struct OwnerValueTests {
    @Test(
        "the name of a version in a conflict tells its file, its side and its day",
        arguments: [
            ("d/report.conflict-B-2026-01-31.txt", "d/report.txt", "B"),
            ("a.conflict-A-2026-01-31-12.tar", "a.tar", "A"),
            ("noext.conflict-A-2026-01-31", "noext", "A"),
            ("x.conflict-A-2026-01-31.conflict-B-2026-02-01.md", "x.conflict-A-2026-01-31.md", "B"),
        ])
    func readsNames(name: String, original: String, side: String) throws {
        let copy = try #require(ConflictCopy(RelativePath(name)))
        #expect(copy.original.description == original && copy.side.rawValue == side)
    }

    @Test(
        "other names are no conflicts",
        arguments: [
            "a.txt", "a.conflict-C-2026-01-31.txt", "a.conflict-A-2026-1-31.txt", "a.conflict-A-2026-01-31x.txt",
            "conflict-A-2026-01-31", "a.conflict-A-2026-01-31-.txt",
        ])
    func passesOthers(name: String) {
        #expect(ConflictCopy(RelativePath(name)) == nil)
    }

    @Test("both versions are kept under names that are free and not too long")
    func namesBoth() throws {
        let long = String(repeating: "n", count: 220)
        let copy = try #require(ConflictCopy(RelativePath("d/\(long).conflict-B-2026-01-31.txt")))
        for number in [1, 2] {
            let name = OpenConflicts.plainName(copy, number)
            #expect(name.count <= 255 && ConflictCopy(RelativePath(bytes: name)) == nil)
        }
        let short = try #require(ConflictCopy("report.conflict-B-2026-01-31.txt"))
        #expect(String(decoding: OpenConflicts.plainName(short, 2), as: UTF8.self) == "report (B 2026-01-31, 2).txt")
    }

    /// A folder with both versions of a conflict, and the list of its conflicts.
    private func conflict() throws -> (folder: TemporaryFolder, conflicts: OpenConflicts) {
        let folder = try TemporaryFolder()
        try folder.write("a/note.txt", "current")
        try folder.write("a/\(Self.version)", "of the other side")
        let settings = SyncSettings(a: folder["a"], b: folder["b"])
        return (folder, OpenConflicts(settings, served: folder["a"]))
    }

    private static let version = "note.conflict-B-2026-01-31.txt"

    /// The state of both versions, as the list of the conflicts has it.
    private func seen(_ folder: TemporaryFolder) -> String {
        ["note.txt", Self.version].map { name in
            guard let stamp = EntryStatus(folder["a/\(name)"].utf8, in: AT_FDCWD)?.stamp else { return "none" }
            return "\(stamp.inode)-\(stamp.size)-\(stamp.modified)"
        }.joined(separator: ".")
    }

    @Test("the last version of a file is not removed, and one that was not seen is not replaced")
    func refusesChoices() throws {
        let path = RelativePath(Self.version)
        let (gone, ofGone) = try conflict()
        let before = seen(gone)
        try gone.remove("a/note.txt")
        #expect(throws: Refusal.self) { try ofGone.choose(.current, for: path) }
        #expect(throws: Refusal.self) { try ofGone.choose(.copy, for: path, seen: before) }
        #expect(try gone.read("a/\(Self.version)") == "of the other side")
        #expect(try ofGone.choose(.copy, for: path, seen: seen(gone)).contains("is now"))
        #expect(try gone.read("a/note.txt") == "of the other side")

        for choice in [OpenConflicts.Choice.current, .copy] {
            let (folder, conflicts) = try conflict()
            let before = seen(folder)
            try folder.write("a/note.txt", "written after it was shown")
            #expect(throws: Refusal.self) { try conflicts.choose(choice, for: path, seen: before) }
            #expect(try folder.files().count == 2 && folder.read("a/note.txt") == "written after it was shown")
            _ = try conflicts.choose(choice, for: path, seen: seen(folder))
            #expect(try folder.files() == ["a/note.txt"])
        }
    }

    @Test("a version that appears or changes at the last moment stays", arguments: [true, false])
    func keepsLateVersion(isThere: Bool) throws {
        let (folder, conflicts) = try conflict()
        if !isThere { try folder.remove("a/note.txt") }
        #expect(throws: Refusal.self) {
            try conflicts.choose(.copy, for: RelativePath(Self.version)) {
                try folder.write("a/note.txt", "of the last moment")
            }
        }
        #expect(try folder.read("a/note.txt") == "of the last moment")
        #expect(try folder.read("a/\(Self.version)") == "of the other side")
    }

    @Test("a failure that repeats itself is one entry, a success ends it, and the past has a limit")
    func remembers() {
        var memory = ActivityLog.Memory()
        let failure = ActivityLog.Entry(time: 1, kind: "backup", hasFailed: true, seconds: 1, text: "disk full")
        memory.add(failure, isEvent: true)
        var later = failure
        later.time = 2
        memory.add(later, isEvent: true)
        #expect(memory.entries == [later] && memory.failures == ["backup": "disk full"])
        memory.add(ActivityLog.Entry(time: 3, kind: "backup", seconds: 1, text: "Saved"), isEvent: true)
        #expect(memory.failures.isEmpty && memory.successes == ["backup": 3] && memory.entries.count == 2)
        for time in 0..<1000 {
            memory.add(ActivityLog.Entry(time: Double(time), kind: "sync", seconds: 0, text: "\(time)"), isEvent: true)
        }
        #expect(memory.entries.count == ActivityLog.limit && memory.entries[0].text == "999")
    }
}

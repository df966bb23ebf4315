import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite("Backup and sync in the service", .serialized, .timeLimit(.minutes(5)))
struct HostingTests {
    let world: HostingWorld

    init() throws {
        world = try HostingWorld()
    }

    @Test("a service backs up and syncs its folder, checks the repository, and restores what was lost")
    func day() throws {
        try world.served.write("d/one.md", "fox")
        try world.served.write("d/one.tmp", "fox")
        try world.served.write("d/.ignore", "one.o")
        try world.served.write("d/one.o", "fox")
        let leavingOut = ["--backup-exclude", "*.tmp", "--backup-ignore-file", ".ignore"]
        let service = try world.start(world.backup + world.sync + leavingOut + ["--governor", "off"])
        try service.item("first backup of \(world.served.path)") { $0.state == "finished" }
        let answer = try service.get("/snapshots").decode(SnapshotsAnswer.self)
        #expect(answer.snapshots.count == 1 && answer.snapshots.first?.folder == world.served.path)
        let labels = try service.get("/workloads").decode(WorkloadsAnswer.self).items.map(\.label)
        for label in ["backup of \(world.served.path)", "check of the repository", "sync after changes"] {
            #expect(labels.contains(label))
        }

        // The folder of a new file is watched, too.
        while !world.state.exists("other/d/one.md") { _ = try service.get("/status") }
        try world.served.write("d/two.md", "fox two")
        while !world.state.exists("other/d/two.md") { _ = try service.get("/status") }

        let check = try service.item("check of the repository") { _ in true }
        #expect(try service.post("/workloads/\(check.id)/run").status == 200)
        try service.item("check of the repository") { $0.finishedRuns == 1 && $0.state == "scheduled" }

        let id = try #require(answer.snapshots.first?.id)
        let restore = try service.post("/restore?snapshot=\(id)&target=back")
        #expect(restore.status == 202, "\(restore.text)")
        let item = try restore.decode(WorkloadsAnswer.Item.self)
        #expect(item.name == "restore" && item.level == "userInitiated")
        #expect(restore.head.contains("/workloads/\(item.id)"))
        try service.item("restore of \(id.prefix(8))") { $0.state == "finished" }
        #expect(try world.state.read("restored/back/d/one.md") == "fox")
        #expect(!world.state.exists("restored/back/d/one.tmp") && !world.state.exists("restored/back/d/one.o"))
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }

    @Test("items stay over a restart, follow the settings, and end when the settings do not name them any more")
    func restarts() throws {
        func items(_ settings: [String]) throws -> [String: WorkloadsAnswer.Item] {
            let service = try world.start(settings)
            try service.status { $0.complete }
            try service.item("rescan") { _ in true }
            let items = try service.get("/workloads").decode(WorkloadsAnswer.self).items
            service.send(SIGTERM)
            #expect(service.wait().status == 0)
            return Dictionary(
                items.filter { $0.state != "cancelled" }.compactMap { item in item.label.map { ($0, item) } },
                uniquingKeysWith: { $1 })
        }
        let check = "check of the repository"
        let first = try items(world.backup + world.sync + ["--keep-last", "3"])
        let second = try items(world.backup + world.sync + ["--keep-last", "4"])
        #expect(first[check] != nil && first[check]?.id == second[check]?.id)
        #expect(first["sync after changes"]?.id == second["sync after changes"]?.id)
        let prune = "prune of the repository"
        #expect(first[prune] != nil && second[prune] != nil && first[prune]?.id != second[prune]?.id)
        let third = try items([])
        #expect(third[check] == nil && third["sync after changes"] == nil && third[prune] == nil)
    }

    @Test("a file that only the other side has comes at once when a request wants it, whatever defers the sync")
    func wanted() throws {
        try world.served.write("here", "h")
        let service = try world.start(world.sync + ["--simulate", "thermal=serious"])
        try service.item("sync after changes") { $0.state == "deferred" && $0.obstacles == ["heat"] }
        for number in 0..<20 { try world.state.write("other/f\(number)", "f") }
        try world.state.write("other/wanted", "bytes")
        let answer = try service.get("/files?path=wanted")
        #expect(answer.status == 200 && answer.text == "bytes", "\(answer.head)")
        #expect(try service.get("/metrics").text.contains("qos_workloads_raises_total{class=\"userInitiated\"}"))
        #expect(try service.get("/files?path=nowhere").status == 404)
    }

    @Test("settings that cannot work end the start with what to do")
    func mistakes() throws {
        try world.state.write("empty", "\n")
        try world.state.setMode("empty", 0o600)
        try world.state.write("wrong", "wrong\n")
        try world.state.makeFolder("plain")
        let inside = world.served["repository"]
        try world.served.makeFolder("repository")
        let key = ["--backup-password-file", world.state["passphrase"]]
        let repository = ["--backup-repository", world.repository]
        try world.state.write("token", "0123456789abcdefghij")
        try world.state.setMode("token", 0o600)
        try world.state.write("open token", "0123456789abcdefghij")
        try world.state.setMode("open token", 0o644)
        try world.served.write("token", "0123456789abcdefghij")
        try world.served.setMode("token", 0o600)
        try world.state.write("patterns", "*.log\n[a\n")
        let token = ["--sync-token-file", world.state["token"]]
        let agent = ["--sync-a", world.served.path, "--sync-b", "http://127.0.0.1:1"]
        let rows: [([String], Int32, String)] = [
            (repository, 64, "--backup-password-file"),
            (key, 64, "no meaning without --backup-repository"),
            (repository + ["--backup-password-file", world.state["none"]], 64, "cannot be read"),
            (repository + ["--backup-password-file", world.state["empty"]], 64, "no passphrase in its first line"),
            (repository + ["--backup-password-file", world.state["wrong"]], 64, "does not open"),
            (key + ["--backup-repository", world.state["plain"]], 66, "qos-backup init -r"),
            (key + ["--backup-repository", inside], 64, "is inside \(world.served.path), which it saves"),
            (key + ["--backup-repository", world.served.path], 64, "is inside"),
            (key + repository + ["--backup-folder", world.repository + "/packs"], 64, "is inside the repository"),
            (key + repository + ["--backup-folder", world.state["none"]], 66, "does not exist"),
            (key + repository + ["--restore-folder", world.repository], 64, "could write into the repository"),
            (key + repository + ["--check-share", "101"], 64, "--check-share is 101"),
            (key + repository + ["--backup-exclude", "a["], 64, "--backup-exclude: a[ is no pattern"),
            (key + repository + ["--backup-exclude", world.served["d"]], 64, "would match nothing"),
            (key + repository + ["--backup-ignore-file", "a/b"], 64, "is no name"),
            (["--backup-exclude", "a"], 64, "no meaning without --backup-repository"),
            (["--sync-a", world.other], 64, "no meaning without --sync-b"),
            (["--sync-a", world.other, "--sync-b", world.other], 64, "overlap"),
            (["--sync-a", world.state.path, "--sync-b", world.other], 64, "overlap"),
            (["--sync-a", world.other, "--sync-b", world.state["none"]], 66, "does not exist"),
            (world.sync + ["--sync-archive", world.other + "/archive"], 64, "--sync-archive"),
            (world.sync + ["--sync-mode", "upside-down"], 64, "mirror, two-way"),
            (world.sync + ["--sync-exclude", world.other + "/d"], 64, "would match nothing"),
            (world.sync + ["--sync-exclude", "!" + world.served["d"]], 64, "Write !/d"),
            (agent, 64, "name it with --sync-token-file"),
            (token, 64, "--sync-token-file has no meaning without --sync-b"),
            (world.sync + token, 64, "has no meaning for a folder of this machine"),
            (["--sync-a", "http://127.0.0.1:1", "--sync-b", world.other] + token, 64, "Change places"),
            (["--sync-a", world.other, "--sync-b", "http://u:p@host"] + token, 64, "no secret in it"),
            (["--sync-a", world.other, "--sync-b", "https://"] + token, 64, "is no address of an agent"),
            (["--sync-a", world.state["none"], "--sync-b", "https://host"] + token, 66, "does not exist"),
            (agent + ["--sync-token-file", world.state["none"]], 64, "another --sync-token-file"),
            (agent + ["--sync-token-file", world.state["open token"]], 64, "chmod 600"),
            (agent + ["--sync-token-file", world.state["empty"]], 64, "holds no token"),
            (agent + ["--sync-token-file", world.served["token"]], 64, "would be inside \(world.served.path)"),
            (agent + token + ["--sync-archive", world.served["archive"]], 64, "--sync-archive"),
            (world.sync + ["--sync-exclude", "[a"], 64, "[a is no pattern"),
            (world.sync + ["--sync-exclude-from", world.state["patterns"]], 64, "Line 2 of"),
            (world.sync + ["--sync-exclude-from", world.state["none"]], 64, "cannot be read"),
        ]
        for (arguments, status, text) in rows {
            let ending = try world.make(arguments).wait()
            #expect(ending.status == status && ending.errors.contains(text), "\(arguments): \(ending)")
        }
        // The same by the environment.
        let ending = try world.make([], environment: ["QOS_SERVICE_SYNC_A": world.other]).wait()
        #expect(ending.status == 64 && ending.errors.contains("--sync-b"))
        try world.state.write("settings.json", #"{"syncA": "\#(world.other)", "syncB": "http://127.0.0.1:1"}"#)
        let file = try world.make(["--config", world.state["settings.json"]]).wait()
        #expect(file.status == 64 && file.errors.contains("--sync-token-file"), "\(file)")
    }
}

#if SQLite
import Foundation
import QoSCore
import QoSFileTestSupport
import QoSProcessTestSupport
import QoSSQLiteStore
import Testing

/// What `qosctl work` prints of an item as JSON, in part.
private struct Report: Decodable {
    var item: Int64
    var workload: String
    var state: String
    var reason: String
    var paused: String?
    var level: String
    var requestedLevel: String
    var attempts: Int
    var lastError: String?
    var waitsFor: [Int64]
    var parameters: String
}

@Suite("qosctl work", .timeLimit(.minutes(5)))
struct WorkToolTests {
    private let place: StorePlace

    init() throws {
        place = try StorePlace()
    }

    /// Runs the tool on the store.
    private func work(_ command: String, _ arguments: String..., store: String? = nil) async throws
        -> DriverProcess.Ending
    {
        try await DriverProcess(
            program: "qosctl", ["work", command, "--store", store ?? place.path] + arguments
        ).ending()
    }

    private func reports(_ command: String, _ arguments: String...) async throws -> [Report] {
        let ending = try await DriverProcess(
            program: "qosctl", ["work", command, "--store", place.path, "--json"] + arguments
        ).ending()
        #expect(ending.status == 0, "\(ending.errors)")
        return try JSONDecoder().decode([Report].self, from: Data(ending.output.utf8))
    }

    /// Makes a store: 1 `scan` is ready, 2 `mail` waits for it, 3 `digest` is dead.
    private func makeStore() async throws {
        let store = try place.open()
        let now = WallTime(nanosecondsSince1970: Int64(Date().timeIntervalSince1970 * 1e9))
        let scan = WorkloadRequest("scan", parameters: Array("{\"folder\":\"/srv\"}".utf8), level: .background)
        let digest = WorkloadRequest("digest", level: .utility, retry: .never)
        let parent = try await store.insert([scan], at: now)[0].item
        _ = try await store.insert([WorkloadRequest("mail", dependencies: [.item(parent)]), digest], at: now)
        let claim = try #require(try await store.claim(ClaimRequest(host: "h", workloads: ["digest"]), at: now))
        try await store.end(claim.lease, .failed(error: "refused\u{1B}[2J", delay: nil), at: now)
        try store.close()
    }

    @Test("list shows the items as a table or as JSON, and selects by state, workload, number and limit")
    func list() async throws {
        try await makeStore()
        let text = try await work("list")
        #expect(text.status == 0 && text.errors.isEmpty)
        let lines = text.output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.first?.hasPrefix("ITEM") == true && lines[1].hasPrefix("#1") && lines[1].contains("ready"))
        #expect(!text.output.contains("\u{1B}"), "control characters of a reason stay out of the terminal")
        let all = try await reports("list")
        #expect(all.map(\.item) == [1, 2, 3] && all.map(\.workload) == ["scan", "mail", "digest"])
        #expect(all.map(\.state) == ["ready", "blocked", "dead"] && all[1].waitsFor == [1])
        #expect(all[0].parameters == "{\"folder\":\"/srv\"}")
        #expect(try await reports("list", "--state", "dead", "--state", "ready").map(\.item) == [1, 3])
        #expect(try await reports("list", "--workload", "mail").map(\.item) == [2])
        #expect(try await reports("list", "--after", "1", "--limit", "1").map(\.item) == [2])
        #expect(try await reports("list", "--workload", "none").isEmpty)
        #expect(try await work("list", "--workload", "none").output == "no items\n")
    }

    @Test("show prints all that is known of an item, with or without the sign of its number")
    func show() async throws {
        try await makeStore()
        let text = try await work("show", "#3")
        #expect(text.status == 0)
        #expect(text.output.contains("workload      digest") && text.output.contains("last error    refused"))
        let json = try await work("show", "2", "--json")
        let report = try JSONDecoder().decode(Report.self, from: Data(json.output.utf8))
        #expect(report.workload == "mail" && report.state == "blocked" && report.reason.contains("scan"))
    }

    @Test("an item of a process that has ended is lost, and not running")
    func lostItems() async throws {
        try await makeStore()
        let store = try place.open()
        let now = WallTime(nanosecondsSince1970: Int64(Date().timeIntervalSince1970 * 1e9))
        // This process with another start: one that has ended for certain.
        let parts = try #require(SystemHolderProcesses(nil).current).split(separator: ":").map(String.init)
        var ended = parts
        ended[ended.count - 1] = "1"
        let gone = ended.joined(separator: ":")
        try #require(SystemHolderProcesses(nil).isGone(gone))
        for process in [gone, parts.joined(separator: ":")] {
            _ = try await store.insert([WorkloadRequest("scan")], at: now)
            _ = try await store.claim(ClaimRequest(host: "web-3:17", process: process, workloads: ["scan"]), at: now)
        }
        try store.close()
        let lines = try await work("list").output.split(separator: "\n").filter { $0.contains("scan") }
        #expect(lines.filter { $0.contains("lost") && $0.contains("web-3:17") }.count == 1)
        #expect(lines.filter { $0.contains("running") }.count == 1)
        #expect(try await work("show", "1").output.contains("state         lost since"))
    }

    @Test("show has the schedule, the conditions, the keys and the failed attempts with their errors")
    func showsAll() async throws {
        let store = try place.open()
        let now = WallTime(secondsSince1970: 1_800_000_000)
        let request = WorkloadRequest(
            "scan", schedule: try .cron("30 2 * * *", timeZone: "Europe/Berlin"), retry: RetryPolicy(base: .zero),
            conditions: [.onMainsPower, .foregroundInTime], unique: UniqueKey("scan:/srv"),
            concurrency: ConcurrencyKey("disk", limit: 2))
        let id = try await store.insert([request], at: now)[0].item
        try await store.runNow(id, at: now)
        for attempt in 1...2 {
            let claim = try #require(
                try await store.claim(ClaimRequest(host: "web-3:17", workloads: ["scan"]), at: now))
            try await store.end(claim.lease, .failed(error: "refused \(attempt)", delay: .zero), at: now)
        }
        try store.close()
        let text = try await work("show", "1").output
        for part in [
            "schedule      cron 30 2 * * * (Europe/Berlin)", "conditions    mains power; requests in time",
            "unique key    scan:/srv", "shared key    disk, limit 2", "attempts      2 of 5", "catch-up      runOnce",
            "attempt 1 ", "at web-3:17: refused 1", "at web-3:17: refused 2",
        ] {
            #expect(text.contains(part), "\(part) is not in \(text)")
        }
    }

    @Test("dead lists the dead letters, and run revives one")
    func revives() async throws {
        try await makeStore()
        #expect(try await reports("dead").map(\.item) == [3])
        let run = try await work("run", "3")
        #expect(run.status == 0 && run.output.contains("digest #3: ready"))
        #expect(try await reports("dead").isEmpty)
        #expect(try await work("dead").output == "no items\n")
        let revived = try await reports("list", "--workload", "digest")
        #expect(revived.first?.state == "ready" && revived.first?.attempts == 0)
    }

    @Test("raise raises an item and what it waits for, and keeps the requested levels")
    func raises() async throws {
        try await makeStore()
        let raised = try await work("raise", "2", "--to", "userInitiated")
        #expect(raised.status == 0 && raised.output.contains("userInitiated"))
        let items = try await reports("list")
        #expect(items.prefix(2).map(\.level) == ["userInitiated", "userInitiated"])
        #expect(items[0].requestedLevel == "background")
    }

    @Test("list and show tell of a pause, also for an item that waits for its time, and not for an ended one")
    func pausedItems() async throws {
        try await makeStore()
        let store = try place.open()
        let later = WorkloadRequest("digest", schedule: .after(.seconds(100_000)))
        _ = try await store.insert([later], at: WallTime(secondsSince1970: 4_000_000_000))
        try store.close()
        _ = try await work("pause", "digest", "--because", "main\u{1B}tenance")
        let lines = try await work("list").output.split(separator: "\n")
        #expect(lines[4].contains("due at") && lines[4].hasSuffix("; paused: main tenance"))
        #expect(!lines[3].contains("paused"))
        #expect(try await reports("list").map(\.paused) == [nil, nil, nil, "main\u{1B}tenance"])
        #expect(try await work("show", "4").output.contains("paused        main tenance"))
    }

    @Test("pause and resume hold and free a workload, with the reason")
    func pauses() async throws {
        try await makeStore()
        let paused = try await work("pause", "scan", "--because", "maintenance")
        #expect(paused.status == 0 && paused.output == "scan: paused, maintenance\n")
        let item = try #require(try await reports("list").first)
        #expect(item.state == "deferred" && item.reason.contains("maintenance"))
        let resumed = try await work("resume", "scan", "--json")
        #expect(resumed.status == 0 && resumed.output.contains("\"resumed\" : \"scan\""))
        #expect(try await reports("list").first?.state == "ready")
        let again = try await work("resume", "scan")
        #expect(again.status != 0 && again.errors.contains("'scan' is not paused"))
    }

    @Test("cancel ends an item and its dependents for good, and a second one is refused")
    func cancels() async throws {
        try await makeStore()
        let cancelled = try await work("cancel", "1", "--because", "not needed")
        #expect(
            cancelled.status == 0 && cancelled.output.contains("cancelled") && cancelled.output.contains("not needed"))
        #expect(try await reports("list").map(\.state) == ["cancelled", "cancelled", "dead"])
        let again = try await work("cancel", "1")
        #expect(again.status == 1 && again.errors.contains("cannot change any more"))
    }

    @Test("a host that runs acts at once on what the tool changes")
    func tellsHosts() async throws {
        try await makeStore()
        let store = try place.open()
        var changes = store.changes().makeAsyncIterator()
        #expect(try await work("cancel", "1").status == 0)
        await changes.next()
        #expect(try await store.record(of: WorkloadItemID(rawValue: 1))?.state == .cancelled)
    }

    @Test(
        "an unknown item is told, and changes nothing",
        arguments: [["show", "9"], ["run", "9"], ["cancel", "9"], ["raise", "9", "--to", "utility"]])
    func unknownItem(arguments: [String]) async throws {
        try await makeStore()
        let ending = try await DriverProcess(
            program: "qosctl", ["work", arguments[0], "--store", place.path] + arguments.dropFirst()
        ).ending()
        #expect(ending.status == 1 && ending.output.isEmpty)
        #expect(ending.errors.contains("the store has no item #9"))
        #expect(try await reports("list").map(\.state) == ["ready", "blocked", "dead"])
    }

    @Test(
        "a wrong argument is told before the store is touched",
        arguments: [
            (["show", "x"], "x"), (["show", "0"], "0"), (["show", "-1"], "<item>"),
            (["list", "--limit", "0"], "1 or more"),
            (["list", "--state", "asleep"], "asleep"), (["raise", "1", "--to", "high"], "userInitiated"),
            (["raise", "1"], "--to"), (["pause"], "workload"),
        ] as [([String], String)])
    func wrongArguments(arguments: [String], hint: String) async throws {
        let ending = try await DriverProcess(
            program: "qosctl", ["work", arguments[0], "--store", place.path] + arguments.dropFirst()
        ).ending()
        #expect(ending.status == 64 && ending.output.isEmpty)
        #expect(ending.errors.contains(hint), "\(ending.errors)")
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test("a missing store is not made", arguments: [["list"], ["pause", "scan"], ["run", "1"]])
    func missing(arguments: [String]) async throws {
        let ending = try await DriverProcess(
            program: "qosctl", ["work", arguments[0], "--store", place.path] + arguments.dropFirst()
        ).ending()
        #expect(ending.status == 1 && ending.errors.contains("there is no store at \(place.path)"))
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test("a store of a newer version, a text file and a folder are refused with the remedy")
    func foreign() async throws {
        try await makeStore()
        try StorePlace.execute("PRAGMA user_version = 99", in: place.path)
        let newer = try await work("list")
        #expect(newer.status == 1 && newer.errors.contains("update this program"))
        try String(repeating: "text ", count: 200).write(
            toFile: place.folder["text"], atomically: false, encoding: .utf8)
        let text = try await work("list", store: place.folder["text"])
        #expect(text.status == 1 && text.errors.contains("is not an SQLite database"))
        let folder = try await work("list", store: place.folder.path)
        #expect(folder.status == 1 && folder.errors.contains("not a regular file"))
    }

    @Test(
        "a store that this user may not write is refused with the remedy",
        .enabled(if: geteuid() != 0, "root may write to every file"))
    func readOnly() async throws {
        try await makeStore()
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: place.path)
        for arguments in [["list"], ["pause", "scan"]] {
            let ending = try await DriverProcess(
                program: "qosctl", ["work", arguments[0], "--store", place.path] + arguments.dropFirst()
            ).ending()
            #expect(ending.status == 1 && ending.errors.contains("writable for this user"), "\(ending.errors)")
        }
    }
}
#endif

import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite("Workloads over restarts", .serialized, .timeLimit(.minutes(5)))
struct DurableWorkTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
        try world.folder.write("one.md", "fox")
    }

    private var store: String { world.directory + "/work.sqlite" }

    private func make(_ more: String..., directory: String? = nil) throws -> ServiceProcess {
        try ServiceProcess(
            [world.folder.path, "--index-dir", directory ?? world.directory, "--port", "0"] + more,
            errors: world.state["errors"])
    }

    private func start(_ more: String...) throws -> ServiceProcess {
        let service = try make(more.first ?? "--governor", more.last ?? "on")
        try service.waitUntilListening()
        return service
    }

    private func items(_ service: ServiceProcess) throws -> [WorkloadsAnswer.Item] {
        try service.get("/workloads").decode(WorkloadsAnswer.self).items
    }

    @discardableResult
    private func post(_ path: String, _ service: ServiceProcess) throws -> HTTPAnswer {
        let fields = ["Authorization": "Bearer \(service.token)"]
        let answer = try HTTPAnswer(port: service.port, path: path, method: "POST", fields: fields)
        #expect(answer.status == 200, "\(path): \(answer.text)")
        return answer
    }

    @Test("a paused workload stays paused over a stop and over a kill, with its reason", arguments: [SIGTERM, SIGKILL])
    func keepsPause(signal: Int32) throws {
        let first = try start()
        try first.status { $0.complete }
        let rescan = try #require(try items(first).first { $0.label == "rescan" })
        try post("/workloads/\(rescan.id)/pause?because=maintenance", first)
        first.send(signal)
        #expect(first.wait().wasKilled == (signal == SIGKILL))
        try world.folder.write("two.md", "fox")

        let second = try start()
        try second.status { $0.reason?.contains("maintenance") == true }
        let kept = try #require(try items(second).first { $0.label == "rescan" })
        #expect(kept.id == rescan.id && kept.details?.pausedBecause == "maintenance")
        #expect(try second.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
        try post("/workloads/\(rescan.id)/resume", second)
        try second.status { $0.complete && $0.indexed == 2 }
    }

    @Test("a killed pass is the same item after the restart, with its level, without a failed attempt or a second pass")
    func keepsItems() throws {
        var random = WordWorld(seed: 5)
        _ = try random.populate(world.folder, files: 1500, words: 60)
        let first = try start()
        try first.status { $0.files > 0 }
        let before = try items(first)
        let pass = try #require(before.first { $0.label == "pass at the start" })
        try #require(pass.state == "running")
        try post("/workloads/\(pass.id)/raise?level=utility", first)
        first.send(SIGKILL)
        #expect(first.wait().wasKilled)

        let second = try start("--simulate", "thermal=serious")
        try second.status { $0.state == "paused" }
        let after = try items(second)
        #expect(after.map(\.id) == before.map(\.id) && after.map(\.label) == before.map(\.label))
        let same = try #require(after.first { $0.id == pass.id })
        #expect(same.level == "utility" && same.state == "deferred")
        second.send(SIGTERM)
        #expect(second.wait().status == 0)
        let third = try start("--rescan-interval", "1000")
        try third.status { $0.complete && $0.indexed == 1501 }
        let changed = try items(third).filter { $0.label == "rescan" && $0.state != "cancelled" }
        #expect(changed.count == 1 && changed.first?.id != before.last?.id, "another interval is another item")
    }

    @Test("the store is for its owner alone")
    func isPrivate() throws {
        let service = try start()
        try service.status { $0.complete }
        for suffix in ["", "-wal", "-shm", "-notice"] {
            let mode = try FileManager.default.attributesOfItem(atPath: store + suffix)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(suffix)")
        }
    }

    @Test(
        "an index folder that is removed while its workload is paused is made again with the pause, and a line tells so"
    )
    func keepsPauseOfRemovedFolder() throws {
        let first = try start()
        try first.status { $0.complete }
        // The index is complete before the pass has ended, and a pass that meets the removal makes the index anew.
        while try items(first).contains(where: { $0.label == "pass at the start" && $0.state == "running" }) {}
        let rescan = try #require(try items(first).first { $0.label == "rescan" })
        try post("/workloads/\(rescan.id)/pause?because=maintenance", first)
        // In one step: the service writes into the folder meanwhile, and makes it again at once.
        try world.state.rename("index", "removed")
        while !FileManager.default.fileExists(atPath: store) { #expect(try first.get("/status").status == 200) }
        #expect(try first.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
        first.send(SIGTERM)
        let ending = first.wait()
        #expect(ending.status == 0)
        #expect(ending.errors.contains("was removed. It was written again"))
        let second = try start()
        try second.status { $0.reason?.contains("maintenance") == true }
        #expect(try items(second).contains { $0.id == rescan.id && $0.details?.pausedBecause == "maintenance" })
    }

    @Test("a damaged store is moved aside with a notice, and the index is filled", arguments: ["no database", "pages"])
    func replacesDamagedStore(kind: String) throws {
        if kind == "pages" {
            let first = try start()
            try first.status { $0.complete }
            first.send(SIGTERM)
            #expect(first.wait().status == 0)
            try execute("PRAGMA journal_mode = DELETE", in: store)
            let file = try #require(FileHandle(forUpdatingAtPath: store))
            let end = try file.seekToEnd()
            try file.seek(toOffset: 4096)
            try file.write(contentsOf: Data(repeating: 0xEE, count: Int(end) - 4096))
            try file.close()
        } else {
            try world.state.write("index/work.sqlite", String(repeating: "no database ", count: 1000))
        }
        try world.folder.write("two.md", "fox")
        let service = try start()
        try service.status { $0.complete && $0.indexed == 2 }
        let names = try FileManager.default.contentsOfDirectory(atPath: world.directory)
        #expect(names.contains { $0.hasPrefix("work.sqlite.corrupt-") })
        service.send(SIGTERM)
        #expect(service.wait().errors.contains("was damaged"))
    }

    @Test("a store that is damaged while the service runs is told with what to do, searches go on, and a restart helps")
    func tellsOfDamage() throws {
        let first = try make("--rescan-interval", "1")
        try first.waitUntilListening()
        try first.status { $0.complete }
        for path in [store, store + "-wal"] {
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            let end = try file.seekToEnd()
            try file.seek(toOffset: 0)
            // The header stays, so that the file is a database.
            let start: UInt64 = path == store ? 100 : 32
            try file.seek(toOffset: start)
            if end > start { try file.write(contentsOf: Data(repeating: 0xEE, count: Int(end - start))) }
            try file.close()
        }
        // The next pass, or a look, reads the damaged pages.
        try first.status { $0.notice?.contains("is damaged") == true }
        let answer = try first.get("/workloads")
        #expect(answer.status == 503)
        #expect(answer.text.contains("Stop the service and start it again"))
        #expect(!answer.text.contains(world.directory), "the text names no file")
        #expect(try first.get("/search?q=fox").decode(SearchResult.self).hits.count == 1)
        let stream = try LoopbackSocket(port: first.port, patience: 60)
        stream.send("GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(first.token)\r\n\r\n")
        #expect(EventReader(stream).read(until: "event: trouble\ndata: The store of the workloads is damaged") != "")
        first.send(SIGTERM)
        #expect(first.wait().status == 0)
        let second = try start()
        try second.status { $0.complete && $0.notice == nil }
        #expect(try second.get("/workloads").status == 200)
    }

    @Test("a store of a newer service is a failure that says so, and stays as it is")
    func refusesNewerStore() throws {
        let first = try start()
        try first.status { $0.complete }
        first.send(SIGTERM)
        #expect(first.wait().status == 0)
        let version = try tablesVersion(of: store)
        try execute("PRAGMA user_version = 99", in: store)
        let ending = try make().wait()
        #expect(ending.status == 1)
        #expect(ending.errors.contains("a newer program has written \(store)"))
        try execute("PRAGMA user_version = \(version)", in: store)
        try start().status { $0.complete }
    }

    @Test(
        "a disk that fills up costs no search, and the indexing goes on when there is room",
        .enabled(if: SmallDisk.isAvailable, "mounting needs CAP_SYS_ADMIN"))
    func survivesFullDisk() throws {
        let disk = try SmallDisk(at: world.state, megabytes: 8)
        let service = try make("--rescan-interval", "1", directory: disk.path + "/index")
        try service.waitUntilListening()
        try service.status { $0.complete }
        let ballast = disk.path + "/ballast"
        try Data().write(to: URL(fileURLWithPath: ballast))
        let file = try #require(FileHandle(forWritingAtPath: ballast))
        while (try? file.write(contentsOf: Data(count: 4096))) != nil {}
        try file.close()
        try world.folder.write("two.md", "fox " + String(repeating: "word ", count: 100_000))
        while try !String(contentsOfFile: world.state["errors"], encoding: .utf8).contains("is full") {
            #expect(try service.get("/search?q=fox").decode(SearchResult.self).hits.count >= 1)
        }
        try FileManager.default.removeItem(atPath: ballast)
        try service.status { $0.complete && $0.indexed == 2 }
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
    }

    @Test("a second signal ends the service at once while its end waits for a store that is locked")
    func endsAtSecondSignal() throws {
        var random = WordWorld(seed: 6)
        _ = try random.populate(world.folder, files: 1500, words: 60)
        let service = try start()
        try service.status { $0.files > 0 }
        let lock = try DatabaseLock(on: store)
        defer { withExtendedLifetime(lock) {} }
        service.send(SIGTERM)
        // The first signal has closed the listening socket.
        while (try? service.get("/healthz")) != nil {}
        #expect(service.isRunning)
        service.send(SIGTERM)
        #expect(service.wait().status == 128 + SIGTERM)
    }
}

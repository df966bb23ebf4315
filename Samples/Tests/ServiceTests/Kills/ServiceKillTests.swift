import Foundation
import Glibc
import Indexing
import SampleTestSupport
import Testing

/// The process of the service is killed while it backs up, restores, syncs and indexes folders that change.
///
/// `QOS_SERVICE_KILLS` sets the number of the kills, and `QOS_SERVICE_KILL_SEED` the seed of their world.
@Suite("Kills of the service", .serialized, .timeLimit(.minutes(60)))
struct ServiceKillTests {
    private static let kills = ProcessInfo.processInfo.environment["QOS_SERVICE_KILLS"].flatMap(Int.init) ?? 4
    private static let seed =
        ProcessInfo.processInfo.environment["QOS_SERVICE_KILL_SEED"].flatMap { UInt64($0) }
        ?? UInt64.random(in: 0...9999)

    /// The named points: calls that change files of the repository or of a restore, steps of the sync and the indexing.
    private static let points: [String] = {
        let file = ["create", "write", "synchronize", "rename", "synchronize-names"]
        let repository = ["packs", "index", "snapshots", "leases"].flatMap { room in file.map { "\(room).\($0)" } }
        let removals = ["packs.remove", "index.remove", "doomed.create", "doomed.remove", "leases.remove"]
        let target = ["make", "create", "write", "synchronize"].map { "target.\($0)" }
        let sync = [
            "scanned", "planned", "copied", "synchronized", "intended", "exchanged", "replaced", "recorded", "unnamed",
            "deleted", "finishedFolders",
        ].map { "sync.\($0)" }
        return repository + removals + target + sync + ["indexing.step", "indexing.checkpoint"]
    }()

    @Test("at named points and at random moments lose nothing that was acknowledged, and need no manual step")
    func kills() async throws {
        let service = try KilledService(seed: Self.seed)
        for round in 0..<Self.kills {
            // A few kills are at other points with each seed.
            let place = (Int(Self.seed % UInt64(Self.points.count)) + round / 2) % Self.points.count
            let point = round % 2 == 0 ? Self.points[place] : nil
            try await service.live(until: point)
        }
        try await service.finish()
        let counts = service.counts
        print(
            "seed \(Self.seed): \(counts.kills) kills, \(counts.atPoints) of them at \(counts.points.count) named "
                + "points; \(counts.snapshots) snapshots and \(counts.restores) restores acknowledged")
    }

    @Test("of the indexing repeat one step at most: what was shown as indexed stays indexed")
    func indexing() throws {
        let world = try IndexWorld()
        var random = WordWorld(seed: 5)
        _ = try random.populate(world.folder, files: 1000, words: 60)
        var generator = SeededGenerator(seed: Self.seed)
        func make(_ environment: [String: String] = [:]) throws -> ServiceProcess {
            let service = try ServiceProcess(
                [world.folder.path, "--index-dir", world.directory, "--port", "0", "--governor", "off"],
                errors: world.state["errors"], environment: environment)
            try service.waitUntilListening()
            return service
        }
        var shown = 0
        var killed = 0
        for _ in 0..<Self.kills {
            let step = Int.random(in: 1...4, using: &generator)
            let service = try make(["QOS_SERVICE_KILL_AT": "indexing.step:\(step)"])
            var isFirst = true
            while let status = try? service.get("/status").decode(StatusAnswer.self), !status.complete {
                if isFirst { #expect(status.indexed >= shown) }
                (isFirst, shown) = (false, status.indexed)
            }
            // A pass that is complete comes to no further step.
            service.send(SIGKILL)
            if service.wait().errors.contains("killed at indexing.step") { killed += 1 }
            for _ in 0..<60 { try world.folder.write("more/\(random.name())", random.text(words: 60)) }
        }
        let service = try make()
        let start = try service.get("/status").decode(StatusAnswer.self)
        #expect(start.indexed >= shown)
        try service.status { $0.complete }
        let text = try service.get("/metrics").text
        let read = try #require(text.firstMatch(of: /qos_service_index_files_read_total (\d+)/).flatMap { Int($0.1) })
        #expect(try read <= world.folder.files().count - shown)
        service.send(SIGTERM)
        #expect(service.wait().status == 0)
        #expect(try SearchIndex.integrity(of: world.database) == ["ok"])
        print("indexing: \(killed) of \(Self.kills) kills at a step, seed \(Self.seed)")
    }
}

import Backup
import Dispatch
import Foundation
import Glibc
import Indexing
import SampleTestSupport
import Testing

/// The service that is killed and started again, and what it acknowledged.
final class KilledService {
    /// What came of the kills.
    struct Counts {
        var kills = 0
        /// The kills at a named point, the others are at random moments.
        var atPoints = 0
        var points: Set<String> = []
        var snapshots = 0
        var restores = 0
    }

    /// The longest life in which a point may be reached, in microseconds. No result depends on it.
    private static let longestLife = 6_000_000

    let world: HostingWorld
    let folders: ChangingFolders
    private(set) var counts = Counts()
    /// The acknowledged restores: item and target.
    private var restores: [Int: String] = [:]
    /// The acknowledged snapshots: their times, and the moments at which they were seen first.
    private var snapshots: [String: (time: Int64, seen: Int64)] = [:]
    private var checked: Set<String> = []
    private var generator: SeededGenerator

    private var settings: [String] {
        world.backup + world.sync + [
            "--governor", "off", "--keep-last", "4", "--check-share", "100", "--rescan-interval", "1",
            "--sync-max-delete", "100",
        ]
    }

    private var labels: [String] {
        [
            "backup of \(world.served.path)", "prune of the repository", "check of the repository",
            "sync from time to time",
        ]
    }

    init(seed: UInt64) throws {
        world = try HostingWorld()
        folders = ChangingFolders(world, seed: seed)
        generator = SeededGenerator(seed: seed ^ 1)
        try folders.change(60)
    }

    // MARK: A life

    /// Starts the service, lets it do all of its work at once, and kills it: at the point, or at a random moment.
    func live(until point: String?) async throws {
        let times = Int.random(in: 1...2, using: &generator)
        let environment = point.map { ["QOS_SERVICE_KILL_AT": "\($0):\(times)"] } ?? [:]
        let latest = point == nil ? Int.random(in: 10_000...2_500_000, using: &generator) : Self.longestLife
        let service = try world.make(settings, environment: environment)
        let identifier = service.identifier
        let timer = DispatchWorkItem { _ = kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(latest), execute: timer)
        // Each question is the pace of the next; the first one without an answer shows the end.
        do {
            try service.waitUntilListening()
            try lookAtRestores(service)
            for label in labels.shuffled(using: &generator) { try ask(service, toRun: label) }
            try restoreLast(service)
            while true {
                try see(service)
                try folders.change(1)
                if point != nil { for label in labels { try ask(service, toRun: label) } }
            }
        } catch is ServiceProcess.Failure {
            // It is dead, which is looked at below.
        } catch is DecodingError {
            // So it is: the answer is not whole.
        }
        let ending = service.wait()
        timer.cancel()
        #expect(ending.wasKilled && ending.status == SIGKILL, "\(point ?? "a random moment"): \(ending)")
        counts.kills += 1
        if let point, ending.errors.contains("killed at \(point)") {
            counts.atPoints += 1
            counts.points.insert(point)
        }
        try await check(point ?? "a random moment")
    }

    /// Asks for a run of an item that waits.
    private func ask(_ service: ServiceProcess, toRun label: String) throws {
        let items = try service.get("/workloads").decode(WorkloadsAnswer.self).items
        guard let item = items.first(where: { $0.label == label && $0.state == "scheduled" }) else { return }
        _ = try service.post("/workloads/\(item.id)/run")
    }

    /// Asks for a restore of the last snapshot to a new place.
    private func restoreLast(_ service: ServiceProcess) throws {
        let target = "r\(counts.kills)"
        let answer = try service.post("/restore?snapshot=latest&target=\(target)")
        guard answer.status == 202 else { return }
        restores[try answer.decode(WorkloadsAnswer.Item.self).id] = target
        counts.restores += 1
    }

    /// Notes the snapshots that the service shows.
    private func see(_ service: ServiceProcess) throws {
        for snapshot in try service.get("/snapshots").decode(SnapshotsAnswer.self).snapshots
        where snapshots[snapshot.id] == nil {
            snapshots[snapshot.id] = (Int64(snapshot.time * 1e9), ChangingFolders.now)
            counts.snapshots += 1
        }
    }

    /// Each acknowledged restore is there still, and none has failed.
    private func lookAtRestores(_ service: ServiceProcess) throws {
        for (id, target) in restores {
            let answer = try service.get("/workloads/\(id)")
            #expect(answer.status == 200, "the restore to \(target) is lost: \(answer.text)")
            guard answer.status == 200 else { continue }
            let item = try answer.decode(WorkloadsAnswer.Item.self)
            #expect(item.state != "dead" && item.state != "cancelled", "\(answer.text)")
        }
    }

    // MARK: What is there

    /// Looks at the repository while no service runs.
    private func check(_ place: String) async throws {
        let repository = try open()
        #expect(try await RepositoryCheck(repository, readingPercent: 100).run().problems == [], "\(place)")
        let there = try repository.snapshots().snapshots
        let names = Set(there.compactMap { $0.id?.description })
        // Only the last four need stay.
        let oldest = there.count < 4 ? Int64.min : there.map(\.time).sorted()[there.count - 4]
        for (name, moments) in snapshots where !names.contains(name) {
            #expect(moments.time < oldest, "after a kill at \(place) the snapshot \(name) is lost")
        }
        for snapshot in there {
            guard let name = snapshot.id?.description, let seen = snapshots[name]?.seen, !checked.contains(name) else {
                continue
            }
            checked.insert(name)
            let folder = try TemporaryFolder()
            let report = try await RestoreRun(repository, snapshot, to: folder["all"]).run()
            #expect(report.problems == [], "\(place)")
            let wrong = try folders.mistakes(at: folder["all"], from: snapshot.time, to: seen)
            #expect(wrong == [], "the snapshot \(name), after a kill at \(place)")
        }
    }

    private func open() throws -> Repository {
        try Repository.open(at: world.repository, passphrase: Array(HostingWorld.passphrase.utf8))
    }

    /// A last life without a kill: all that was acknowledged is done, both sides are equal, and the index is whole.
    func finish() async throws {
        let service = try world.make(settings)
        try service.waitUntilListening()
        for id in restores.keys {
            while true {
                let item = try service.get("/workloads/\(id)").decode(WorkloadsAnswer.Item.self)
                if item.state == "finished" { break }
                try #require(item.state != "dead" && item.state != "cancelled", "\(item)")
            }
        }
        for label in ["sync from time to time", "backup of \(world.served.path)"] + labels.dropFirst().dropLast() {
            try finishOne(service, label)
        }
        try finishOne(service, "rescan")
        try service.status { $0.complete }
        let items = try service.get("/workloads").decode(WorkloadsAnswer.self).items
        #expect(items.allSatisfy { $0.state != "dead" }, "\(items)")
        service.send(SIGTERM)
        #expect(service.wait().status == 0)

        try await check("the end")
        for folder in [world.served.path, world.other] { #expect(try folders.mistakes(at: folder) == []) }
        // All but the roots, which are as the test made them.
        let pictures = [world.served.path, world.other].map { TreePicture($0, times: false).lines.dropFirst() }
        #expect(pictures[0] == pictures[1])
        let repository = try open()
        let verified = try await VerifyRun(
            repository, repository.snapshot(named: "latest"), against: world.served.path
        ).run()
        #expect(verified.differences == 0 && verified.damage == [] && verified.unreadable == [])
        for room in ["temporary", "leases", "doomed"] {
            #expect(try world.state.files().filter { $0.hasPrefix("repository/\(room)/") } == [])
        }
        let index = try world.world.open()
        #expect(try index.hitSets() == world.world.oracle())
        try index.close()
    }

    /// Lets an item run to its end once more.
    private func finishOne(_ service: ServiceProcess, _ label: String) throws {
        let before = try service.item(label) { $0.state == "scheduled" }
        #expect(try service.post("/workloads/\(before.id)/run").status == 200)
        try service.item(label) { $0.finishedRuns > before.finishedRuns && $0.state == "scheduled" }
    }
}

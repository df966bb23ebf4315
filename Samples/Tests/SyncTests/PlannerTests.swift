import Foundation
import SampleTestSupport
import Testing
import TreeScan

@testable import Sync

@Suite("Plans")
struct PlannerTests {
    /// The contents of both sides that the last sync did not see, with their paths.
    private func news(_ world: ModelWorld, _ contents: [RelativePath: Int?]) -> [(path: RelativePath, content: Int)] {
        Side.allCases.flatMap { side in
            world.sides[side].compactMap { path, entry in
                guard let content = entry.content, contents[path] != .some(content) else { return nil }
                return (path, content)
            }
        }
    }

    @Test(
        "random worlds end in step, lose nothing new, bring nothing back, and are idempotent",
        arguments: ConflictPolicy.allCases)
    func twoWay(policy: ConflictPolicy) async throws {
        let reconciler = Reconciler(mode: .twoWay, policy: policy)
        for seed in 0..<400 as Range<UInt64> {
            var world = ModelWorld(seed: seed)
            var synced: [RelativePath: Int?] = [:]
            for round in 0..<6 {
                world.change(12)
                let before = world.sides
                let archive = world.archive
                let new = news(world, synced)
                let plan = try await world.plan(reconciler)
                world.apply(plan)
                let place = "seed \(seed), round \(round), \(policy)"

                #expect(world.sides.a.mapValues(\.agreed) == world.sides.b.mapValues(\.agreed), "\(place)")
                // Nothing that was new is lost, but for one of two contents that a policy chose from.
                let after = Set(world.sides.a.values.compactMap(\.content))
                for (path, content) in new where !after.contains(content) {
                    let isChosenFrom = policy != .keepBoth && new.count { $0.path == path } == 2
                    #expect(isChosenFrom, "\(place): \(path) with \(content) is lost")
                }
                // A removal of what the other side left as it was is a removal.
                for (path, content) in synced {
                    guard let content, before.a[path] == nil, let entry = before.b[path], entry.content == content,
                        let state = archive[path]?.sides.b
                    else { continue }
                    // A change of the inode that no attribute explains may be a new content.
                    guard entry.changed == state.changed || entry.mode != state.metadata.mode else { continue }
                    #expect(world.sides.b[path] == nil, "\(place): \(path) came back")
                }
                // A side that has the content of before is no side of a conflict.
                for name in plan.names where name.decision.isConflict && archive[name.path]?.digest != nil {
                    let contents = Side.allCases.map { before[$0][name.path]?.content.map(ModelWorld.digest) }
                    #expect(!contents.contains(archive[name.path]?.digest), "\(place): \(name.path)")
                }
                // A change of one side alone arrives.
                for (path, content) in synced where before.b[path]?.content == content && content != nil {
                    guard let now = before.a[path]?.content, now != content else { continue }
                    let kept = world.sides.b.contains { $0.value.content == now }
                    #expect(kept, "\(place): \(path) did not get \(now)")
                }
                let second = try await world.plan(reconciler)
                // A name whose bytes had to be looked at is written down anew.
                let noted = second.names.filter {
                    $0.decision.outcome == .record && world.archive[$0.path]?.digest != nil
                }
                #expect(
                    second.actions.isEmpty && noted.count == second.names.count, "\(place): a second run has work")
                synced = world.sides.a.mapValues(\.content)
            }
        }
    }

    @Test("a mirror leaves A as it is, and makes B the same")
    func mirror() async throws {
        for seed in 0..<400 as Range<UInt64> {
            var world = ModelWorld(seed: seed)
            for round in 0..<6 {
                world.change(12)
                let before = world.sides.a
                let plan = try await world.plan(Reconciler(mode: .mirror))
                #expect(!plan.actions.contains { $0.side == .a })
                world.apply(plan)
                #expect(world.sides.a == before)
                #expect(
                    world.sides.b.mapValues(\.agreed) == before.mapValues(\.agreed), "seed \(seed), round \(round)")
                #expect(try await world.plan(Reconciler(mode: .mirror)).actions.isEmpty, "seed \(seed)")
            }
        }
    }

    // MARK: Guards

    private func entry(_ name: String, inode: UInt64 = 1) -> Observation {
        let stamp = FileStamp(size: 1, modified: 5, changed: 5, inode: inode, device: 1)
        return Observation(
            path: RelativePath(name), kind: .regular, metadata: Metadata(mode: 0o644, modified: 5), stamp: stamp)
    }

    private func plan(
        _ archived: [String], _ a: [String], _ b: [String], blocked: String? = nil, folding: Bool = false,
        _ mode: SyncMode = .twoWay
    ) async throws -> SyncPlan {
        var scans = Pair(a: SideScan(), b: SideScan())
        scans.a.entries = a.sorted().map { entry($0) }
        scans.b.entries = b.sorted().map { entry($0) }
        if let blocked { scans.a.blocked = [RelativePath(blocked)] }
        scans.b.foldsCase = folding
        let archive = archived.sorted().map { name in
            let state = ArchiveEntry.SideState(entry(name), at: 90_000_000_000)
            return ArchiveEntry(
                path: RelativePath(name), kind: .regular, target: [], sides: Pair(a: state, b: state))
        }
        var planner = Planner(
            reconciler: Reconciler(mode: mode), date: "2026-01-31", archive: archive, a: scans.a, b: scans.b)
        return try await planner.plan(ContentLook(isEqual: { _, _ in true }, digest: { _, _ in nil }))
    }

    @Test("the guard counts removals of each side, and refuses more than the share")
    func guarded() async throws {
        let names = (0..<10).map { "f\($0)" }
        let half = try await plan(names, Array(names.prefix(5)), names)
        #expect(half.deletions(on: .b) == 5 && half.refusal(maximumDeletions: 50) == nil)
        let more = try await plan(names, Array(names.prefix(4)), names)
        #expect(
            more.refusal(maximumDeletions: 50) == .tooManyDeletions(.b, count: 6, total: 10, percent: 50))
        #expect(more.refusal(maximumDeletions: 60) == nil)
        #expect(more.refusal(maximumDeletions: 0) != nil)
        #expect(half.refusal(maximumDeletions: 100) == nil)
    }

    @Test("an empty side is refused unless it was always empty", arguments: SyncMode.allCases)
    func empty(mode: SyncMode) async throws {
        #expect(
            try await plan(["f"], [], ["f"], mode).refusal(maximumDeletions: 100) == .emptySide(.a, archived: 1))
        #expect(
            try await plan(["f"], ["f"], [], mode).refusal(maximumDeletions: 100) == .emptySide(.b, archived: 1))
        #expect(try await plan([], ["f"], [], mode).refusal(maximumDeletions: 0) == nil)
        // A mirror of nothing onto something.
        let mirror = try await plan([], [], ["f"], mode).refusal(maximumDeletions: 50)
        #expect((mirror == nil) == (mode == .twoWay))
    }

    @Test("what could not be read is never taken for removed")
    func unread() async throws {
        let plan = try await plan(["d/f", "g"], ["h"], ["d/f", "g", "h"], blocked: "d")
        #expect(!plan.actions.contains { $0.path == "d/f" })
        #expect(plan.actions.contains { $0.path == "g" && $0.work == .delete })
    }

    @Test("names that differ in case only are refused where they are one name")
    func folding() async throws {
        let plan = try await plan([], ["Read", "read", "new", "Old"], ["old"], folding: true)
        let written = plan.actions.filter { $0.side == .b }.map(\.path)
        #expect(written == ["new"])
        #expect(plan.skipped.count == 3)
        #expect(plan.skipped.allSatisfy { $0.contains("Rename one of them") })
        let other = try await self.plan([], ["Read", "read", "new", "Old"], ["old"])
        #expect(other.actions.count { $0.side == .b } == 4)
    }

    @Test("names of conflicts keep the extension, count, and fit")
    func names() {
        func name(_ path: String, taken: Set<String> = []) -> String {
            ConflictName.make(for: RelativePath(path), of: .b, date: "2026-01-31") { taken.contains($0.description) }
                .description
        }
        #expect(name("d/report.txt") == "d/report.conflict-B-2026-01-31.txt")
        #expect(name("plain") == "plain.conflict-B-2026-01-31")
        #expect(name(".profile") == ".profile.conflict-B-2026-01-31")
        #expect(
            name("r.txt", taken: ["r.conflict-B-2026-01-31.txt", "r.conflict-B-2026-01-31-2.txt"])
                == "r.conflict-B-2026-01-31-3.txt")
        #expect(name(String(repeating: "n", count: 255) + ".gz").utf8.count == 255)
        #expect(name(String(repeating: "n", count: 255)).utf8.count == 255)
    }
}

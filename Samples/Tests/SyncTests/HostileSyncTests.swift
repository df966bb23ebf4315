import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import Sync

/// Trees that people do not make, and other people do. `QOS_HOSTILE_SEEDS=1-1000` tries more of them.
@Suite("Hostile trees in sync, both ways", .timeLimit(.minutes(30)))
struct HostileSyncTests {
    @Test("what is on one side comes to the other one equal, or is named", arguments: HostileTree.seeds)
    func bothWays(seed: UInt64) async throws {
        let world = try SyncWorld()
        defer { for path in [world.a, world.b] { try? HostileTree.remove(path) } }
        try HostileTree(in: world.a, seed: seed)
        try HostileTree(in: world.b, seed: seed &+ 1_000_000)
        let first = try await world.sync { $0.maximumDeletions = 100 }
        #expect(first.conflicts.count <= 20, "seed \(seed): \(first.conflicts)")
        // Names that are on both sides by chance may need a second run for what the first one left.
        let second = try await world.sync { $0.maximumDeletions = 100 }
        #expect(second.conflicts == [], "seed \(seed)")
        #expect(second.copied == 0 && second.removed == 0, "seed \(seed): \(second)")
        // A set bit goes with an owner that cannot be set, so such a mode stays another one.
        let lost = world.difference()
        if geteuid() == 0 {
            #expect(second.isInStep, "seed \(seed): \(second.skipped)")
            #expect(lost == [], "seed \(seed)")
        } else {
            #expect(
                lost.count <= 2 * second.skipped.count + modesLost(world), "seed \(seed): \(lost) \(second.skipped)")
        }
    }

    /// The lines of both sides that have a set bit: an ordinary user does not hand it on.
    private func modesLost(_ world: SyncWorld) -> Int {
        [world.a, world.b].flatMap { TreePicture($0).lines }.count {
            // Of files, and of pipes.
            ["mode 104", "mode 102", "mode 127", "mode 147"].contains(where: $0.contains)
        } * 2
    }

    @Test("a tree of one side arrives with its links, attributes, access lists and holes", arguments: HostileTree.seeds)
    func oneWay(seed: UInt64) async throws {
        let world = try SyncWorld()
        defer { for path in [world.a, world.b] { try? HostileTree.remove(path) } }
        try HostileTree(in: world.a, seed: seed)
        let first = try await world.sync()
        let lost = world.difference()
        if geteuid() == 0 {
            #expect(first.isInStep && first.incomplete == nil, "seed \(seed): \(first)")
            #expect(lost == [], "seed \(seed)")
        } else {
            #expect(
                lost.count <= 2 * first.skipped.count + modesLost(world), "seed \(seed): \(lost) \(first.skipped)")
        }
        let second = try await world.sync()
        #expect(second.copied == 0 && second.removed == 0 && second.conflicts == [], "seed \(seed): \(second)")
    }

    @Test("a tree of one side goes to an agent, and comes back from it", arguments: HostileTree.seeds.prefix(4))
    func agent(seed: UInt64) async throws {
        let world = try SyncWorld()
        defer { for path in [world.a, world.b] { try? HostileTree.remove(path) } }
        let agent = try await RunningServer.agent(world.b)
        let kinds: HostileTree.Kinds = [.attributes, .links, .holes]
        try HostileTree(in: world.a, seed: seed, kinds: kinds)
        try HostileTree(in: world.b, seed: seed &+ 1_000_000, kinds: kinds)
        _ = try await world.sync(with: agent) { $0.maximumDeletions = 100 }
        let second = try await world.sync(with: agent) { $0.maximumDeletions = 100 }
        #expect(second.isInStep && second.copied == 0, "seed \(seed): \(second)")
        #expect(world.difference() == [], "seed \(seed)")
    }
}

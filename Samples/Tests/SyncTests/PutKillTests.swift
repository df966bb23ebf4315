import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import Sync

/// One side alone changes its files: at first so shortly before a run that their times are those of the copies.
///
/// The copies on the other side are then as they were put, whatever a look can tell. A version of a conflict, or a file
/// that comes back, would be a mistake.
@Suite("Puts of new files, killed or not, and further changes of the same side", .serialized, .timeLimit(.minutes(10)))
struct PutKillTests {
    /// What happens to the files after the killed run.
    enum Change: CaseIterable {
        case none, otherLength, sameLength, removal, rename
    }

    private static let steps: [SyncStep] = [
        .copied, .synchronized, .intended, .exchanged, .replaced, .recorded,
    ]

    private struct World {
        let pair: OpposedWorld
        let side: Side

        private func name(_ file: String) -> String { (side == .a ? "a/" : "b/") + file }

        init(_ opposite: Opposite, changing side: Side) async throws {
            pair = try await OpposedWorld(opposite)
            self.side = side
            try pair.folder.write("token", agentToken)
            try pair.folder.setMode("token", 0o600)
            for file in ["replaced", "kept", "more"] { try pair.folder.write(name(file), "old") }
            try await pair.sync()
            // The doubt about whole seconds is two seconds wide.
            let time = Int(Date().timeIntervalSince1970) + 1
            for file in ["replaced", "new"] {
                try pair.folder.write("scratch", "first \(file)")
                try pair.folder.setTime("scratch", time, 0)
                try pair.folder.rename("scratch", name(file))
            }
        }

        func change(_ change: Change) throws {
            for file in ["replaced", "new"] {
                switch change {
                case .none: break
                case .otherLength: try write(file, "second version of \(file)")
                case .sameLength: try write(file, "later \(file)")
                case .removal: try pair.folder.remove(name(file))
                case .rename: try pair.folder.rename(name(file), name("other name of \(file)"))
                }
            }
        }

        private func write(_ file: String, _ text: String) throws {
            try pair.folder.write("scratch", text)
            try pair.folder.rename("scratch", name(file))
        }

        /// Runs the command until it is killed at a step. Returns whether it came there.
        func run(killedAt step: String) async throws -> Bool {
            let world = pair.world
            let other = pair.agent.map { ["\($0.address)", "--token-file", world.temporary["token"]] } ?? [world.b]
            let killed = try await blocking {
                try CommandRun(
                    "qos-sync", [world.a] + other + ["--archive", world.archive],
                    environment: ["QOS_SYNC_KILL_AT": step], in: world.temporary)
            }
            guard killed.status != 128 + SIGKILL else { return true }
            #expect(killed.status == 0, "\(killed)")
            return false
        }

        /// Brings both sides in step: as the changed side is, and in one run.
        func check(_ place: String) async throws {
            let (here, there) = side == .a ? (pair.world.a, pair.world.b) : (pair.world.b, pair.world.a)
            let wanted = TreePicture(here)
            let report = try await pair.sync { $0.maximumDeletions = 100 }
            #expect(report.isInStep, "\(place): \(report)")
            #expect(TreePicture(here).lines.dropFirst() == wanted.lines.dropFirst(), "\(place): \(report)")
            #expect(TreePicture(there).lines.dropFirst() == wanted.lines.dropFirst(), "\(place): \(report)")
            let second = try await pair.sync()
            #expect(second.copied + second.removed + second.described + second.renamed == 0, "\(place): \(second)")
            #expect(try pair.world.leftovers() == [], "\(place)")
        }
    }

    @Test(
        "a kill at any step of a put, and a further change, are no conflict, and bring nothing back", arguments: steps,
        Opposite.allCases)
    func kills(step: SyncStep, opposite: Opposite) async throws {
        // Each change meets each step; the side, and whether the first or the second file is killed, take turns.
        let turn = Self.steps.firstIndex(of: step) ?? 0
        for (index, change) in Change.allCases.enumerated() {
            let side = (turn + index).isMultiple(of: 2) ? Side.a : .b
            let number = index == turn % Change.allCases.count ? 2 : 1
            let place = "\(step) \(number), from \(side), \(change)"
            let world = try await World(opposite, changing: side)
            let isKilled = try await world.run(killedAt: "\(step.rawValue):\(number)")
            #expect(isKilled || number > 1, "no run came to \(place)")
            try world.change(change)
            try await world.check(place)
        }
    }
}

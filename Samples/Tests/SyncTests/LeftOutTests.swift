import Foundation
import SampleTestSupport
import Testing
import TreeScan

@testable import Sync
@testable import SyncAgent

@Suite("Entries that patterns leave out", .timeLimit(.minutes(5)))
struct LeftOutTests {
    /// What happened to a name before it was left out.
    enum Event: String, CaseIterable {
        case nothing, newOnA, newOnB, goneOnA, goneOnB, changedOnA, changedOnB, changedOnBoth, renamedOnA
    }

    private func happens(_ event: Event, in folder: TemporaryFolder) throws {
        switch event {
        case .nothing: break
        case .newOnA: try folder.write("a/d/new.log", "new on A")
        case .newOnB: try folder.write("b/d/new.log", "new on B")
        case .goneOnA: try folder.remove("a/d/f.log")
        case .goneOnB: try folder.remove("b/d/f.log")
        case .changedOnA: try folder.write("a/d/f.log", "changed on A")
        case .changedOnB: try folder.write("b/d/f.log", "changed on B")
        case .changedOnBoth:
            try folder.write("a/d/f.log", "changed on A")
            try folder.write("b/d/f.log", "changed on B, too")
        case .renamedOnA: try folder.rename("a/d/f.log", "a/d/g.log")
        }
    }

    private func texts(_ folder: TemporaryFolder) throws -> [String: String] {
        let names = try folder.files().filter { $0.contains(".log") }
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try folder.read($0)) })
    }

    @Test(
        "an entry that is left out stays on both sides, whatever happened, and nothing is removed when it counts again",
        arguments: Event.allCases, SyncMode.allCases)
    func table(event: Event, mode: SyncMode) async throws {
        for opposite in Opposite.allCases {
            for pattern in ["*.log", "d/", "/d/*.log"] {
                let pair = try await OpposedWorld(opposite)
                for name in ["d/f.log", "d/g.txt", "h", "i"] { try pair.folder.write("a/\(name)", "old") }
                try await pair.sync()
                try happens(event, in: pair.folder)
                let before = try texts(pair.folder)
                let rules = try ExcludeRules([pattern])
                let place = "\(event), \(mode), \(opposite), \(pattern)"
                // The second run finds an archive that does not know the entry any more.
                for _ in 0..<2 {
                    let report = try await pair.sync {
                        $0.mode = mode
                        $0.excludes = rules
                    }
                    #expect(report.isInStep && report.removed == 0 && report.copied == 0, "\(place): \(report)")
                    #expect(try texts(pair.folder) == before, "\(place)")
                }
                guard mode == .twoWay else { continue }
                let after = try await pair.sync()
                #expect(after.removed == 0, "\(place): \(after)")
                #expect(pair.world.difference(folderTimes: false) == [], "\(place)")
                let contents = Set(try texts(pair.folder).values)
                #expect(contents.isSuperset(of: before.values), "\(place): \(contents)")
            }
        }
    }

    @Test("a folder that holds an entry that is left out is not removed, with a line", arguments: Opposite.allCases)
    func folders(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        for name in ["d/e/f.log", "d/e/g.txt", "h", "i", "j", "k", "l"] { try pair.folder.write("a/\(name)", "old") }
        try await pair.sync()
        try pair.folder.remove("a/d")
        let rules = try ExcludeRules(["*.log"])
        let report = try await pair.sync {
            $0.excludes = rules
            $0.maximumDeletions = 100
        }
        #expect(report.removed == 1 && report.skipped.count == 1, "\(report)")
        #expect(report.skipped.allSatisfy { $0.contains("are left out") }, "\(report)")
        #expect(try pair.folder.read("b/d/e/f.log") == "old")
        // The folder above stays there, too, and does not come back on A.
        #expect(!pair.world.exists("b/d/e/g.txt") && !pair.world.exists("a/d"))
        let second = try await pair.sync { $0.excludes = rules }
        #expect(second.removed + second.folders == 0 && second.skipped == report.skipped, "\(second)")
        #expect(!pair.world.exists("a/d"))

        // Something new in it brings the folders back that it needs.
        try pair.folder.write("b/d/new", "new")
        let third = try await pair.sync { $0.excludes = rules }
        #expect(third.copied == 1 && third.folders == 1 && third.skipped == report.skipped, "\(third)")
        #expect(try pair.folder.read("a/d/new") == "new" && !pair.world.exists("a/d/e"))

        // It goes with the last entry that is left out.
        try pair.folder.remove("b/d/e/f.log")
        let last = try await pair.sync { $0.excludes = rules }
        #expect(last.isInStep && last.removed == 1 && pair.world.difference(folderTimes: false) == [], "\(last)")
    }

    @Test("what is left out counts for no limit, and is not looked at", arguments: Opposite.allCases)
    func limits(opposite: Opposite) async throws {
        let pair = try await OpposedWorld(opposite)
        for number in 0..<4 { try pair.folder.write("a/d/f\(number)", "f") }
        try await pair.sync()
        let rules = try ExcludeRules(["d"])
        // Nothing else is in the folders, and no side counts as emptied.
        let none = try await pair.sync { $0.excludes = rules }
        #expect(none.isInStep && none.unchanged == 0, "\(none)")
        // A socket, or a folder without rights, is no matter below a folder that is left out.
        try pair.folder.makeFolder("a/d/closed")
        try pair.folder.setMode("a/d/closed", 0)
        #expect(try await pair.sync { $0.excludes = rules }.skipped == [])
        #expect(!pair.world.exists("b/d/closed"))
    }

    @Test("a kind that a pattern for folders leaves out on one side is left out on both")
    func kinds() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/build", "a file")
        try world.temporary.write("b/build/x", "x")
        let rules = try ExcludeRules(["build/"])
        let report = try await world.sync { $0.excludes = rules }
        #expect(report.isInStep && report.copied == 0, "\(report)")
        #expect(try world.temporary.files().sorted().filter { !$0.hasPrefix("archive") } == ["a/build", "b/build/x"])
    }

    @Test("an agent that knows no patterns, and a client that knows none, are understood")
    func versions() throws {
        let old = Data(#"{"scan":{"probing":true}}"#.utf8)
        guard case .scan(true, nil) = try JSONDecoder().decode(AgentCommand.self, from: old) else {
            Issue.record("an old client is not understood")
            return
        }
        let plain = try JSONEncoder().encode(AgentCommand.scan(probing: true, excludes: nil))
        #expect(String(decoding: plain, as: UTF8.self) == #"{"scan":{"probing":true}}"#)
    }
}

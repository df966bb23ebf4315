import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import Sync

extension SyncWorld {
    private func arguments(_ more: [String]) -> [String] { [a, b, "--archive", archive] + more }

    /// Runs the command to its end.
    func run(_ arguments: [String] = [], killAt step: String? = nil) throws -> CommandRun {
        try CommandRun(
            "qos-sync", self.arguments(arguments), environment: ["QOS_SYNC_KILL_AT": step ?? ""], in: temporary)
    }

    func start(_ arguments: [String], readsLines: Bool = false) throws -> StartedCommand {
        try StartedCommand("qos-sync", self.arguments(arguments), in: temporary, readsLines: readsLines)
    }
}

@Suite("The command qos-sync")
struct SyncCommandTests {
    @Test("from the first sync to a conflict")
    func day() throws {
        let world = try SyncWorld()
        try world.makeZoo()
        let dry = try world.run(["--dry-run"])
        #expect(dry.status == 0 && dry.output.contains("A -> B") && dry.output.contains("new on A"), "\(dry.errors)")
        #expect(!world.exists("b/plain.txt"))
        let first = try world.run()
        #expect(first.status == 0 && first.output.contains("10 copied"), "\(first.errors)")
        #expect(world.difference() == [])
        try world.temporary.write("a/plain.txt", "A")
        try world.temporary.write("b/plain.txt", "B is longer")
        let preview = try world.run(["--dry-run"])
        #expect(preview.status == 1 && preview.output.contains("keep both"))
        let second = try world.run(["--json"])
        #expect(second.status == 1)
        let report = try JSONDecoder().decode(SyncReport.self, from: Data(second.output.utf8))
        #expect(report.conflicts.count == 1 && report.copied == 2)
        #expect(try world.run().status == 0)
        #expect(world.difference() == [])
    }

    @Test(
        "wrong arguments have code 2 and say what to do",
        arguments: [
            ["--mirror", "--two-way"], ["--mirror", "--conflict", "a"], ["--conflict", "b-wins"],
            ["--max-delete", "101%"],
            ["--max-delete", "-1"], ["--watch", "--dry-run"], ["--interval", "0"], ["more"], ["--exclude", "[a"],
            ["--exclude", ""], ["--exclude-from", "/nowhere"], ["--exclude", "./a"], ["--exclude", "a/../b"],
        ])
    func mistakes(arguments: [String]) throws {
        let world = try SyncWorld()
        let result = try world.run(arguments)
        #expect(result.status == 2 && result.errors.contains("Error: "), "\(result)")
    }

    @Test("a pattern that can match nothing has code 2, and the one that is meant is named", arguments: ["a", "b"])
    func absolutePattern(side: String) throws {
        let world = try SyncWorld()
        for more in [[], ["--dry-run"]] {
            let result = try world.run(["--exclude", world.temporary[side + "/d/x"]] + more)
            #expect(result.status == 2 && result.errors.contains("would match nothing"), "\(result)")
            #expect(result.errors.contains("Write /d/x"), "\(result)")
        }
    }

    @Test("refusals have code 3 and say what to do")
    func refusals() throws {
        let world = try SyncWorld()
        for number in 0..<4 { try world.temporary.write("a/f\(number)", "f") }
        #expect(try world.run().status == 0)
        for number in 1..<4 { try world.temporary.remove("a/f\(number)") }
        let dry = try world.run(["--dry-run"])
        #expect(dry.status == 3 && dry.errors.contains("--max-delete"))
        let refused = try world.run()
        #expect(refused.status == 3 && refused.errors.contains("3 of 4 entries of B"), "\(refused)")
        #expect(world.exists("b/f3"))
        #expect(try world.run(["--max-delete", "75%"]).status == 0)
        #expect(!world.exists("b/f3"))
    }

    @Test("the help and the mistakes of the agent are those of the agent")
    func helpOfTheAgent() throws {
        let folder = try TemporaryFolder()
        let help = try CommandRun("qos-sync", ["agent", "--help"], in: folder)
        #expect(help.status == 0 && help.output.contains("--allowed-host") && !help.output.contains("--mirror"))
        let mistake = try CommandRun("qos-sync", ["agent"], in: folder)
        #expect(mistake.status == 2 && mistake.errors.contains("qos-sync agent"), "\(mistake)")
    }

    @Test("a folder of an agent is brought in step, and wrong arguments say what to do")
    func agent() throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "from A")
        try world.temporary.write("b/g", "from B")
        let (token, place) = (world.temporary["token"], try TemporaryFolder())
        let agent = try StartedCommand(
            "qos-sync", ["agent", world.b, "--token-file", token, "--port", "0"], in: place, readsLines: true)
        defer { agent.terminate() }
        let line = try #require(agent.nextLine())
        let address = try #require(line.split(separator: " ").last.map(String.init))
        func run(_ arguments: String...) throws -> CommandRun {
            try CommandRun("qos-sync", arguments + ["--archive", world.archive], in: world.temporary)
        }
        let dry = try run(world.a, address, "--token-file", token, "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("A -> B") && !world.exists("b/f"), "\(dry)")
        let first = try run(world.a, address, "--token-file", token)
        #expect(first.status == 0 && first.output.contains("2 copied"), "\(first)")
        #expect(world.difference() == [])
        #expect(try run(world.a, address).status == 2)
        #expect(try run(address, world.a, "--token-file", token).status == 2)
        try world.temporary.setMode("token", 0o644)
        let open = try run(world.a, address, "--token-file", token)
        #expect(open.status == 3 && open.errors.contains("chmod 600"), "\(open)")
        let inside = try CommandRun(
            "qos-sync", ["agent", world.b, "--token-file", world.b + "/token"], in: world.temporary)
        #expect(inside.status == 3 && !world.exists("b/token"), "\(inside)")
        try world.temporary.setMode("token", 0o600)
        agent.terminate()
        agent.waitUntilExit()
        let alone = try run(world.a, address, "--token-file", token)
        #expect(alone.status == 3 && alone.errors.contains("Is it running"), "\(alone)")
    }

    // MARK: Kills

    /// Two folders with every kind of change, on both sides.
    private func makeChanges(_ world: SyncWorld) throws {
        for number in 0..<6 { try world.temporary.write("a/keep\(number)", "keep") }
        for name in ["replaced", "gone", "renamed", "both", "rights", "turned"] {
            try world.temporary.write("a/\(name)", "old \(name)")
        }
        try world.temporary.write("a/folder/in it", "old")
        try world.temporary.write("a/large", bytes: SeededGenerator.noise(3 << 20, seed: 1))
        #expect(try world.run().status == 0)
        try world.temporary.write("a/replaced", "new replaced")
        try world.temporary.write("b/both", "new on B, longer")
        try world.temporary.write("a/both", "new on A")
        try world.temporary.remove("a/gone")
        try world.temporary.rename("b/renamed", "b/other name")
        try world.temporary.setMode("b/rights", 0o600)
        try world.temporary.remove("b/turned")
        try world.temporary.write("b/turned/into a folder", "f")
        try world.temporary.write("a/new/folder/file", "new")
        try world.temporary.setMode("a/new/folder", 0o555)
        try world.temporary.remove("a/large")
        try world.temporary.write("a/large", bytes: SeededGenerator.noise(3 << 20, seed: 1) + [1])
        try world.temporary.makeLink("b/link", to: "keep1")
        #expect(unsafe link(world.temporary["a/keep0"], world.temporary["a/a further name"]) == 0)
    }

    /// The contents that a file of a name may have: those of before and of after.
    private func checkWhole(_ world: SyncWorld, _ place: String) throws {
        let texts: Set<String> = [
            "keep", "old replaced", "new replaced", "old gone", "old renamed", "old both", "new on A",
            "new on B, longer",
            "old rights", "old turned", "f", "new", "old",
        ]
        for name in try world.temporary.files() where name.hasPrefix("a/") || name.hasPrefix("b/") {
            guard !name.contains(".qos-sync-") else { continue }
            if name.hasSuffix("/large") {
                let size = try Data(contentsOf: URL(fileURLWithPath: world.temporary[name])).count
                #expect([3 << 20, (3 << 20) + 1].contains(size), "\(place): \(name) has \(size) bytes")
            } else {
                #expect(texts.contains(try world.temporary.read(name)), "\(place): \(name)")
            }
        }
        let names = try world.temporary.files().filter {
            ($0.hasPrefix("a/") || $0.hasPrefix("b/")) && !$0.hasSuffix("/large") && !$0.contains(".qos-sync-")
        }
        let all = try Set(names.map { try world.temporary.read($0) })
        for new in ["new replaced", "new on A", "new on B, longer", "f", "new"] {
            #expect(all.contains(new), "\(place): '\(new)' is lost")
        }
    }

    @Test(
        "a kill at every step leaves whole files, and the next run brings both sides in step",
        arguments: SyncStep.allCases)
    func kills(step: SyncStep) throws {
        let world = try SyncWorld()
        try makeChanges(world)
        var count = 0
        for number in [1, 2, 3] {
            let killed = try world.run(killAt: "\(step.rawValue):\(number)")
            guard killed.status == 128 + SIGKILL else { break }
            count += 1
            try checkWhole(world, "\(step) \(number)")
        }
        #expect(count > 0, "no run came to \(step)")
        let last = try world.run()
        #expect(last.status <= 1, "\(last)")
        #expect(world.difference(folderTimes: false) == [])
        #expect(try world.leftovers() == [])
        try checkWhole(world, "\(step), at the end")
        #expect(!world.exists("b/gone") && !world.exists("a/renamed") && world.exists("a/turned/into a folder"))
        let conflicts = try world.temporary.files().filter { $0.hasPrefix("a/both.conflict-B") }
        #expect(conflicts.count == 1, "\(conflicts)")
        let clean = try world.run()
        #expect(clean.status == 0 && clean.output.contains(" 0 copied"), "\(clean)")
    }

    /// The seed decides when each process is killed; QOS_SYNC_KILLS sets their number.
    @Test("kills at random moments lose nothing, and need no manual step")
    func randomKills() throws {
        let world = try SyncWorld()
        let count = ProcessInfo.processInfo.environment["QOS_SYNC_KILLS"].flatMap(Int.init) ?? 5
        let seed = UInt64.random(in: 0...9999)
        var generator = SeededGenerator(seed: seed)
        var wasKilled = 0
        for round in 0..<count {
            // Each side writes files of its own, and removes some: no conflict is possible.
            for number in 0..<40 {
                let side = number % 2 == 0 ? "a" : "b"
                let name = "\(side)/\(side)\(number % 4)/f\(number)"
                if Int.random(in: 0..<5, using: &generator) == 0, world.exists(name) {
                    try world.temporary.remove(name)
                } else if Bool.random(using: &generator) {
                    try world.temporary.write(
                        name,
                        bytes: SeededGenerator.noise(Int.random(in: 0...60_000, using: &generator), seed: UInt64(round))
                    )
                }
            }
            let wanted = Side.allCases.map { TreePicture(world.temporary[$0 == .a ? "a/a0" : "b/b1"], times: false) }
            if try world.start(["--max-delete", "100%"]).kill(within: 80_000, using: &generator) { wasKilled += 1 }
            guard round % 3 == 2 else { continue }
            let whole = try world.run(["--max-delete", "100%"])
            #expect(whole.status == 0, "seed \(seed), round \(round): \(whole)")
            #expect(world.difference(folderTimes: false) == [], "seed \(seed), round \(round)")
            #expect(try world.leftovers() == [])
            // What a side made itself is as it made it.
            let now = Side.allCases.map { TreePicture(world.temporary[$0 == .a ? "a/a0" : "b/b1"], times: false) }
            #expect(now == wanted, "seed \(seed), round \(round)")
        }
        let last = try world.run(["--max-delete", "100%"])
        #expect(last.status == 0, "seed \(seed): \(last)")
        #expect(world.difference(folderTimes: false) == [], "seed \(seed)")
        print("killed \(wasKilled) of \(count), seed \(seed)")
    }
}

import Backup
import Foundation
import Glibc
import SampleTestSupport
import Testing

extension BackupWorld {
    private func arguments(_ given: [String]) -> [String] { [given[0], "-r", repositoryPath] + given.dropFirst() }

    private func environment(_ password: String?) -> [String: String] {
        ["QOS_BACKUP_PASSWORD": password ?? String(decoding: Self.passphrase, as: UTF8.self)]
    }

    /// Runs the command to its end.
    fileprivate func run(_ given: [String], password: String? = nil) throws -> CommandRun {
        try CommandRun("qos-backup", arguments(given), environment: environment(password), in: temporary)
    }

    fileprivate func start(_ given: [String]) throws -> StartedCommand {
        try StartedCommand("qos-backup", arguments(given), environment: environment(nil), in: temporary)
    }
}

@Suite("The command")
struct CommandTests {
    @Test("from the first backup to a restored tree, to the end of a snapshot")
    func day() throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let saved = try world.run(["backup", world.source])
        #expect(saved.status == 0, "\(saved.errors)")
        #expect(saved.output.hasPrefix("Snapshot "))
        #expect(try world.run(["snapshots"]).output.contains(world.source))
        #expect(try world.run(["ls", "latest"]).output.contains("deep/er/still/file"))
        #expect(try world.run(["ls", "latest", "deep/er"]).output.contains("deep/er/still/file"))
        let unknown = try world.run(["ls", "latest", "deep/no"])
        #expect(unknown.status == 1 && unknown.errors.contains("deep/no"))
        #expect(try world.run(["restore", "latest", world.target]).status == 0)
        #expect(TreePicture(world.target) == TreePicture(world.source))
        let same = try world.run(["verify", "latest", world.target])
        #expect(same.status == 0 && same.output.contains(" 0 differences; 0 could not"), "\(same)")
        try world.temporary.write("target/deep/er/still/file", "down Here")
        let other = try world.run(["verify", "latest", world.target, "--path", "deep/er/still/file"])
        #expect(other.status == 3 && other.output.contains("deep/er/still/file: its content differs from byte 5 on"))
        let checked = try world.run(["check", "--read-data"])
        #expect(checked.status == 0 && checked.output.contains("0 problems"), "\(checked.errors)")
        #expect(try world.run(["check", "--read-data=1%"]).status == 0)
        #expect(try world.run(["forget"]).status == 64)
        #expect(try world.run(["backup", world.source]).status == 0)
        #expect(try world.run(["forget", "--keep-last", "1"]).output.contains("1 snapshot stays."))
        let pruned = try world.run(["prune"])
        #expect(pruned.status == 0, "\(pruned.errors)")
        #expect(try world.run(["check", "--read-data"]).status == 0)
    }

    @Test("a prune that leaves waste in a pack says so")
    func waste() throws {
        let world = try BackupWorld()
        try world.temporary.write("source/long", bytes: SeededGenerator.noise(2 << 20, seed: 1))
        try world.temporary.write("source/short", bytes: SeededGenerator.noise(100_000, seed: 2))
        #expect(try world.run(["backup", world.source]).status == 0)
        try FileManager.default.removeItem(atPath: "\(world.source)/short")
        #expect(try world.run(["backup", world.source]).status == 0)
        #expect(try world.run(["forget", "--keep-last", "1"]).status == 0)
        let pruned = try world.run(["prune"])
        #expect(
            pruned.status == 0 && pruned.output.contains("that no snapshot needs stay: a pack is written again when"),
            "\(pruned)")
    }

    @Test("mistakes have an exit code and say what to do")
    func mistakes() throws {
        let world = try BackupWorld()
        let wrong = try world.run(["snapshots"], password: "wrong")
        #expect(wrong.status == 1 && wrong.errors.contains("passphrase that was given to 'init'"))
        let missing = try world.run(["backup", world.temporary["no"]])
        #expect(missing.status == 1 && missing.errors.contains("does not exist"))
        #expect(try world.run(["restore", "latest", world.target]).errors.contains("no snapshot 'latest'"))
        #expect(try world.run(["verify", "latest", world.temporary["no"]]).status == 1)
        #expect(try world.run(["init"]).errors.contains("is not empty"))
        let pattern = try world.run(["backup", world.source, "--exclude", "a["])
        #expect(pattern.status == 64 && pattern.errors.contains("a[ is no pattern"))
        for (given, meant) in [
            (world.source + "/d/x", "Write /d/x"), ("./x", "match nothing"), ("d/../x", "match nothing"),
        ] {
            for more in [[], ["--dry-run"]] {
                let result = try world.run(["backup", world.source, "--exclude", given] + more)
                #expect(result.status == 64 && result.errors.contains(meant), "\(given) \(more): \(result)")
            }
        }
        try world.temporary.write("patterns", "# some\n*.o\n\n")
        #expect(try world.run(["backup", world.source, "--exclude-from", world.temporary["patterns"]]).status == 0)
        #expect(try world.run(["backup", world.source, "--exclude-from", world.temporary["no"]]).status == 64)
        #expect(try world.run(["backup", world.source, "--ignore-file", "a/b"]).status == 64)
        let file = try world.run(["snapshots", "--password-file", world.temporary["no"]])
        #expect(file.status == 1 && file.errors.contains("cannot be read"))
        try world.temporary.write("password", "correct horse\nsecond line\n")
        #expect(try world.run(["snapshots", "--password-file", world.temporary["password"]]).status == 0)
    }

    /// The seed decides when each process is killed; QOS_BACKUP_KILLS sets their number.
    @Test("kills at random moments of backups, restores and prunes lose nothing, and need no manual step")
    func kills() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        try world.temporary.write("source/big", bytes: SeededGenerator.noise(8 << 20, seed: 3))
        let count = ProcessInfo.processInfo.environment["QOS_BACKUP_KILLS"].flatMap(Int.init) ?? 6
        var generator = SeededGenerator(seed: UInt64.random(in: 0...9999))
        var wasKilled = 0
        for round in 0..<count {
            try world.temporary.write("source/round", bytes: SeededGenerator.noise(1 << 20, seed: UInt64(round)))
            let arguments =
                switch round % 4 {
                case 2: ["prune"]
                case 3: ["restore", "latest", world.target]
                default: ["backup", world.source]
                }
            if try world.start(arguments).kill(within: 700_000, using: &generator) { wasKilled += 1 }
            // What is there is whole, whatever was killed.
            #expect(try await RepositoryCheck(world.open()).run().problems == [], "after \(arguments)")
            if round % 4 == 1 { #expect(try world.run(["backup", world.source]).status == 0) }
        }
        #expect(try world.run(["backup", world.source]).status == 0)
        #expect(try world.run(["forget", "--keep-last", "1"]).status == 0)
        let pruned = try world.run(["prune"])
        #expect(pruned.status == 0 && !pruned.output.contains("wait"), "\(pruned.output) \(pruned.errors)")
        let checked = try world.run(["check", "--read-data"])
        #expect(checked.status == 0, "\(checked.errors)")
        #expect(try world.run(["restore", "latest", world.target, "--replace"]).status == 0)
        #expect(TreePicture(world.target).difference(from: TreePicture(world.source)) == [])
        #expect(try world.files("temporary").isEmpty && world.files("leases").isEmpty)
        print("killed \(wasKilled) of \(count)")
    }
}

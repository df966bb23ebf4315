import Backup
import Foundation
import Glibc
import SampleTestSupport
import Testing

/// The command as a process of its own.
private struct Command {
    let status: Int32
    let output: String
    let errors: String

    static var program: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("qos-backup")
    }

    /// Runs it to its end.
    init(_ world: BackupWorld, _ arguments: [String], password: String? = nil) throws {
        let process = try Self.start(world, arguments, password: password)
        process.waitUntilExit()
        status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        output = (try? world.temporary.read("output")) ?? ""
        errors = (try? world.temporary.read("errors")) ?? ""
    }

    static func start(_ world: BackupWorld, _ arguments: [String], password: String? = nil) throws -> Process {
        try world.temporary.write("output", "")
        try world.temporary.write("errors", "")
        let process = Process()
        process.executableURL = program
        process.arguments = [arguments[0], "-r", world.repositoryPath] + arguments.dropFirst()
        process.environment = ProcessInfo.processInfo.environment.merging([
            "QOS_BACKUP_PASSWORD": password ?? String(decoding: BackupWorld.passphrase, as: UTF8.self)
        ]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: world.temporary["output"]))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: world.temporary["errors"]))
        try process.run()
        return process
    }
}

@Suite("The command")
struct CommandTests {
    @Test("from the first backup to a restored tree, to the end of a snapshot")
    func day() throws {
        let world = try BackupWorld()
        try world.makeZoo()
        let saved = try Command(world, ["backup", world.source])
        #expect(saved.status == 0, "\(saved.errors)")
        #expect(saved.output.hasPrefix("Snapshot "))
        #expect(try Command(world, ["snapshots"]).output.contains(world.source))
        #expect(try Command(world, ["ls", "latest"]).output.contains("deep/er/still/file"))
        #expect(try Command(world, ["restore", "latest", world.target]).status == 0)
        #expect(TreePicture(world.target) == TreePicture(world.source))
        let checked = try Command(world, ["check", "--read-data"])
        #expect(checked.status == 0 && checked.output.contains("0 problems"), "\(checked.errors)")
        #expect(try Command(world, ["check", "--read-data=1%"]).status == 0)
        #expect(try Command(world, ["forget"]).status == 64)
        #expect(try Command(world, ["backup", world.source]).status == 0)
        #expect(try Command(world, ["forget", "--keep-last", "1"]).output.contains("1 snapshots stay"))
        let pruned = try Command(world, ["prune"])
        #expect(pruned.status == 0, "\(pruned.errors)")
        #expect(try Command(world, ["check", "--read-data"]).status == 0)
    }

    @Test("mistakes have an exit code and say what to do")
    func mistakes() throws {
        let world = try BackupWorld()
        let wrong = try Command(world, ["snapshots"], password: "wrong")
        #expect(wrong.status == 1 && wrong.errors.contains("passphrase that was given to 'init'"))
        let missing = try Command(world, ["backup", world.temporary["no"]])
        #expect(missing.status == 1 && missing.errors.contains("does not exist"))
        #expect(try Command(world, ["restore", "latest", world.target]).errors.contains("no snapshot 'latest'"))
        #expect(try Command(world, ["init"]).errors.contains("is not empty"))
        let file = try Command(world, ["snapshots", "--password-file", world.temporary["no"]])
        #expect(file.status == 1 && file.errors.contains("cannot be read"))
        try world.temporary.write("password", "correct horse\nsecond line\n")
        #expect(try Command(world, ["snapshots", "--password-file", world.temporary["password"]]).status == 0)
    }

    /// The seed decides when each process is killed; QOS_BACKUP_KILLS sets their number.
    @Test("kills at random moments of backups, restores and prunes lose nothing, and need no manual step")
    func kills() async throws {
        let world = try BackupWorld()
        try world.makeZoo()
        try world.temporary.write("source/big", bytes: BackupWorld.noise(8 << 20, seed: 3))
        let count = ProcessInfo.processInfo.environment["QOS_BACKUP_KILLS"].flatMap(Int.init) ?? 6
        var generator = SeededGenerator(seed: UInt64.random(in: 0...9999))
        var wasKilled = 0
        for round in 0..<count {
            try world.temporary.write("source/round", bytes: BackupWorld.noise(1 << 20, seed: UInt64(round)))
            let arguments =
                switch round % 4 {
                case 2: ["prune"]
                case 3: ["restore", "latest", world.target]
                default: ["backup", world.source]
                }
            let process = try Command.start(world, arguments)
            // This spreads the kills over the run. No result depends on it.
            usleep(UInt32.random(in: 1000...700_000, using: &generator))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            if process.terminationReason == .uncaughtSignal { wasKilled += 1 }
            // What is there is whole, whatever was killed.
            #expect(try await RepositoryCheck(world.open()).run().problems == [], "after \(arguments)")
            if round % 4 == 1 { #expect(try Command(world, ["backup", world.source]).status == 0) }
        }
        #expect(try Command(world, ["backup", world.source]).status == 0)
        #expect(try Command(world, ["forget", "--keep-last", "1"]).status == 0)
        let pruned = try Command(world, ["prune"])
        #expect(pruned.status == 0 && !pruned.output.contains("wait"), "\(pruned.output) \(pruned.errors)")
        let checked = try Command(world, ["check", "--read-data"])
        #expect(checked.status == 0, "\(checked.errors)")
        #expect(try Command(world, ["restore", "latest", world.target, "--replace"]).status == 0)
        #expect(TreePicture(world.target).difference(from: TreePicture(world.source)) == [])
        #expect(try world.files("temporary").isEmpty && world.files("leases").isEmpty)
        print("killed \(wasKilled) of \(count)")
    }
}

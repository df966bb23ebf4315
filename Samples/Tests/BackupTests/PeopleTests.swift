import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import Backup

/// What people type, and what they see then.
@Suite("The command, for people", .timeLimit(.minutes(5)))
struct PeopleTests {
    private func run(
        _ world: BackupWorld, _ given: [String], environment: [String: String] = [:]
    ) throws -> CommandRun {
        let password = ["QOS_BACKUP_PASSWORD": String(decoding: BackupWorld.passphrase, as: UTF8.self)]
        return try CommandRun(
            "qos-backup", [given[0], "-r", world.repositoryPath] + given.dropFirst(),
            environment: password.merging(environment) { $1 }, in: world.temporary)
    }

    /// Runs a line of the shell, with `$qos` as the program and `$r` as the repository.
    private func shell(_ world: BackupWorld, _ line: String) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", line]
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("qos-backup").path
        process.environment = ProcessInfo.processInfo.environment.merging([
            "qos": program, "r": world.repositoryPath, "source": world.source,
            "password": String(decoding: BackupWorld.passphrase, as: UTF8.self),
        ]) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
            String(decoding: data, as: UTF8.self)
        )
    }

    @Test(
        "numbers below zero, and both of snapshots and rules, are refused",
        arguments: [
            ["forget", "--keep-last=-1"], ["forget", "--keep-last", "1", "--keep-daily=-2"], ["forget"],
            ["forget", "abc", "--keep-last", "1"], ["forget", "--keep-within", "soon"],
            ["snapshots", "--path", "/a", "--folder", "/b"],
            ["ls", "--password-file", "a", "--password-command", "b", "latest"],
        ])
    func refused(arguments: [String]) throws {
        let world = try BackupWorld()
        let result = try run(world, arguments)
        #expect(result.status == 64, "\(result)")
    }

    @Test("results that cannot be written are a failure")
    func fullOutput() throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        #expect(try run(world, ["backup", world.source]).status == 0)
        for command in ["ls -r \"$r\" latest", "snapshots -r \"$r\""] {
            let result = try shell(world, "QOS_BACKUP_PASSWORD=\"$password\" \"$qos\" \(command) > /dev/full")
            #expect(result.status == 1 && result.output.contains("could not be written"), "\(result)")
        }
        // A reader that has enough is no failure.
        let cut = try shell(
            world, "QOS_BACKUP_PASSWORD=\"$password\" \"$qos\" ls -r \"$r\" latest | head -n 1 > /dev/null")
        #expect(cut.status == 0 && cut.output.isEmpty, "\(cut)")
    }

    @Test(
        "a passphrase comes from a pipe, from the standard input, and from a command",
        arguments: [
            "\"$qos\" snapshots -r \"$r\" --password-file <(echo \"$password\")",
            "echo \"$password\" | \"$qos\" snapshots -r \"$r\"",
            "\"$qos\" snapshots -r \"$r\" --password-command 'echo \"$password\"'",
        ])
    func passphrase(line: String) throws {
        let world = try BackupWorld()
        let result = try shell(world, "unset QOS_BACKUP_PASSWORD; " + line)
        #expect(result.status == 0, "\(result)")
        let wrong = try shell(world, "unset QOS_BACKUP_PASSWORD; password=wrong; " + line)
        #expect(wrong.status == 1 && wrong.output.contains("does not open"), "\(wrong)")
    }

    @Test("without a passphrase the command says how to give one")
    func noPassphrase() throws {
        let world = try BackupWorld()
        let result = try shell(world, "unset QOS_BACKUP_PASSWORD; \"$qos\" snapshots -r \"$r\" < /dev/null")
        #expect(result.status == 1 && result.output.contains("--password-command"), "\(result)")
        let failed = try shell(world, "\"$qos\" snapshots -r \"$r\" --password-command false")
        #expect(failed.status == 1 && failed.output.contains("failed with status 1"), "\(failed)")
    }

    @Test(
        "a signal at the prompt ends the command at once, and gives the echo back",
        arguments: [
            SIGINT, SIGTERM, SIGHUP,
        ], [false, true])
    func signalAtPrompt(signal: Int32, isBlocked: Bool) throws {
        let world = try BackupWorld()
        // A terminal of its own: the prompt comes, the echo is off; the signal ends the command, and the echo is back.
        let script = """
            import os, pty, select, signal, sys, termios
            master, slave = pty.openpty()
            pid = os.fork()
            if pid == 0:
                os.setsid()
                for number in range(3): os.dup2(slave, number)
                numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
                for number in numbers: signal.signal(number, signal.SIG_DFL)
                # A parent may pass on that they are blocked.
                signal.pthread_sigmask(signal.SIG_BLOCK if sys.argv[4] == "true" else signal.SIG_UNBLOCK, numbers)
                os.environ.pop("QOS_BACKUP_PASSWORD", None)
                os.execv(sys.argv[1], [sys.argv[1], "snapshots", "-r", sys.argv[2]])
            text = b""
            while b"Passphrase: " not in text:
                text += os.read(master, 100)
            while termios.tcgetattr(slave)[3] & termios.ECHO:
                select.select([], [], [], 0.01)
            os.kill(pid, int(sys.argv[3]))
            status = os.waitpid(pid, 0)[1]
            print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else -1)
            print(bool(termios.tcgetattr(slave)[3] & termios.ECHO))
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("qos-backup").path
        process.arguments = ["python3", "-c", script, program, world.repositoryPath, "\(signal)", "\(isBlocked)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(output == "\(signal)\nTrue\n")
    }

    @Test("the latest of two folders must be named, and is then that of the folder")
    func twoFolders() throws {
        let world = try BackupWorld()
        try world.temporary.write("source/x", "of the first")
        try world.temporary.write("second/x", "of the second")
        #expect(try run(world, ["backup", world.source, "--tag", "t"]).status == 0)
        #expect(try run(world, ["backup", world.temporary["second"], "--host", "other"]).status == 0)
        let unclear = try run(world, ["restore", "latest", world.target, "--path", "x"])
        #expect(unclear.status == 1 && unclear.errors.contains("--folder"), "\(unclear)")
        #expect(
            try run(world, ["restore", "latest", world.target, "--path", "x", "--folder", world.source]).status == 0)
        #expect(try world.temporary.read("target/x") == "of the first")
        #expect(try run(world, ["dump", "latest", "x", "--host", "other"]).output == "of the second")
        #expect(try run(world, ["snapshots", "--tag", "t"]).output.split(separator: "\n").count == 1)
        #expect(try run(world, ["snapshots", "--path", world.source]).output.contains(world.source))
        let found = try run(world, ["find", "x"])
        #expect(found.output.split(separator: "\n").count == 4, "\(found)")
    }

    @Test("names that are no text can be given as a folder, left out, listed, restored and written out")
    func bytes() throws {
        let world = try BackupWorld()
        let result = try shell(
            world,
            #"""
            set -e; export QOS_BACKUP_PASSWORD="$password"; cd "$source"
            mkdir $'caf\351'; echo in > $'caf\351/in\377.txt'; echo out > $'caf\351/out\376.txt'
            "$qos" backup -r "$r" $'caf\351' --exclude $'out\376.txt' > /dev/null
            "$qos" backup -r "$r" . --exclude 'out\xFE.txt' > /dev/null
            "$qos" ls -r "$r" latest --folder "$source" | grep -F 'caf\xE9/in\xFF.txt' > /dev/null
            "$qos" snapshots -r "$r" --path $'caf\351' | grep -c -F 'caf\xE9'
            "$qos" restore -r "$r" latest ../typed --folder "$source" --path 'caf\xE9/in\xFF.txt' > /dev/null
            "$qos" restore -r "$r" latest $'../t\351' --folder "$source" --path $'caf\351/in\377.txt' > /dev/null
            "$qos" verify -r "$r" latest $'caf\351' --folder $'caf\351' --exclude 'out\xFE.txt' | grep -o ' 0 differences'
            cat ../typed/$'caf\351/in\377.txt' $'../t\351/caf\351/in\377.txt'
            "$qos" dump -r "$r" latest $'caf\351/in\377.txt' --folder "$source"
            test ! -e $'../t\351/caf\351/out\376.txt'
            """#)
        #expect(result.status == 0 && result.output == "1\n 0 differences\nin\nin\nin\n", "\(result)")
        try HostileTree.remove(world.temporary.path)
    }

    @Test("one entry that is mistyped makes nothing and says so")
    func mistyped() throws {
        let world = try BackupWorld()
        try world.temporary.write("source/x", "x")
        #expect(try run(world, ["backup", world.source]).status == 0)
        let result = try run(world, ["restore", "latest", world.target, "--path", "y"])
        #expect(result.status == 1 && result.errors.contains("no entry y") && !world.temporary.exists("target"))
    }

    @Test("passphrases are listed, added, changed and removed by the command")
    func keys() throws {
        let world = try BackupWorld()
        func key(_ given: [String], _ environment: [String: String] = [:]) throws -> CommandRun {
            let password = ["QOS_BACKUP_PASSWORD": String(decoding: BackupWorld.passphrase, as: UTF8.self)]
            return try CommandRun(
                "qos-backup", ["key", given[0], "-r", world.repositoryPath] + given.dropFirst(),
                environment: password.merging(environment) { $1 }, in: world.temporary)
        }
        #expect(try key(["add"], ["QOS_BACKUP_NEW_PASSWORD": "second"]).status == 0)
        #expect(try key(["list"], ["QOS_BACKUP_PASSWORD": "second"]).output.split(separator: "\n").count == 2)
        #expect(try key(["passwd", "--new-password-command", "echo third"]).status == 0)
        #expect(try key(["list"]).status == 1)
        #expect(try key(["remove", "repository"], ["QOS_BACKUP_PASSWORD": "second"]).status == 0)
        #expect(try key(["list"], ["QOS_BACKUP_PASSWORD": "third"]).status == 1)
        #expect(try key(["list"], ["QOS_BACKUP_PASSWORD": "second"]).output.split(separator: "\n").count == 1)
    }

    @Test("what root writes in a user's repository belongs to the user", .enabled(if: geteuid() == 0))
    func ownerOfRepository() async throws {
        let world = try BackupWorld()
        try world.makeSmallZoo()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["chown", "-R", "12345:12346", world.repositoryPath]
        try process.run()
        process.waitUntilExit()
        try await world.backUp()
        try world.temporary.write("source/text", "other")
        try await world.backUp()
        let repository = try world.open()
        try repository.forget(Array(try repository.snapshots().snapshots.prefix(1)))
        _ = try await PruneRun(repository).run()
        let owners = Set(TreePicture(world.repositoryPath).lines.map { $0.contains(" owner 12345:12346 ") })
        #expect(owners == [true])
    }
}

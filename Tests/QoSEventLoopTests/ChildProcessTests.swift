import Glibc
import QoSEventLoop
import QoSFileTestSupport
import Synchronization
import Testing

@Suite("A child process", .tags(.libuv))
struct ChildProcessTests {
    /// Runs a command to its end.
    func run(_ command: ChildCommand) async throws -> ChildExit? {
        let exit = Mutex<ChildExit?>(nil)
        let ended = Events()
        try await withRunningLoop { loop in
            let child = try await loop.perform { () throws(EventLoopError) in
                try loop.spawn(command) { how in
                    exit.withLock { $0 = how }
                    ended.report()
                }
            }
            ended.wait()
            #expect(child.processID > 0)
        }
        return exit.withLock { $0 }
    }

    /// Runs a shell script to its end and returns what it printed.
    func output(
        of script: String, environment: [String: String]? = nil, workingDirectory: String? = nil,
        standardInput: ChildCommand.Stream = .null
    ) async throws -> String {
        let folder = try TemporaryFolder("qos-child")
        let descriptor = unsafe open(folder["output"], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let exit = try await run(
            ChildCommand(
                "/bin/sh", ["-c", script], environment: environment, workingDirectory: workingDirectory,
                standardInput: standardInput, standardOutput: .descriptor(descriptor)))
        #expect(exit == .exited(status: 0))
        return try folder.read("output")
    }

    @Test(
        "reports how it ended: its status, or the signal",
        arguments: [
            ("exit 0", .exited(status: 0)), ("exit 1", .exited(status: 1)), ("exit 255", .exited(status: 255)),
            ("kill -TERM $$", .signalled(SIGTERM)), ("kill -KILL $$", .signalled(SIGKILL)),
        ] as [(String, ChildExit)])
    func ends(script: String, expected: ChildExit) async throws {
        #expect(try await run(ChildCommand("sh", ["-c", script])) == expected)
    }

    @Test("gets arguments, environment, directory and standard input as given")
    func inputs() async throws {
        #expect(
            try await output(of: "printf %s \"$QOS_A|$QOS_B\"", environment: ["QOS_A": "x y", "QOS_B": ""]) == "x y|")
        #expect(try await output(of: "test -n \"$PATH\" && printf inherited") == "inherited")
        #expect(try await output(of: "pwd", workingDirectory: "/proc/sys") == "/proc/sys\n")
        #expect(try await output(of: "cat; printf end") == "end")
        let folder = try TemporaryFolder("qos-child")
        try folder.write("a", "from a file")
        let input = unsafe open(folder["a"], O_RDONLY | O_CLOEXEC)
        defer { close(input) }
        #expect(try await output(of: "cat", standardInput: .descriptor(input)) == "from a file")
    }

    @Test("starts with an empty signal mask, though the loop's thread blocks a signal")
    func signalMask() async throws {
        let folder = try TemporaryFolder("qos-child")
        let ended = Events()
        let output = unsafe open(folder["output"], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        try await withRunningLoop { loop in
            let child = try await loop.perform { () throws(EventLoopError) in
                var blocked = sigset_t()
                var previous = sigset_t()
                unsafe sigaddset(&blocked, SIGUSR1)
                unsafe pthread_sigmask(SIG_BLOCK, &blocked, &previous)
                defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
                return try loop.spawn(
                    ChildCommand("grep", ["SigBlk:", "/proc/self/status"], standardOutput: .descriptor(output))
                ) { _ in ended.report() }
            }
            ended.wait()
            withExtendedLifetime(child) {}
        }
        #expect(try folder.read("output") == "SigBlk:\t0000000000000000\n")
    }

    @Test("can be sent a signal; once it ended, it is not found")
    func sendsSignals() async throws {
        let exit = Mutex<ChildExit?>(nil)
        let ended = Events()
        try await withRunningLoop { loop in
            let child = try await loop.perform { () throws(EventLoopError) in
                try loop.spawn(ChildCommand("sleep", ["1000"])) { how in
                    exit.withLock { $0 = how }
                    ended.report()
                }
            }
            let elsewhere = #expect(throws: EventLoopError.self) { try child.send(signal: SIGTERM) }
            #expect(elsewhere?.code == .notOnLoopThread)
            try await loop.perform { () throws(EventLoopError) in try child.send(signal: SIGTERM) }
            ended.wait()
            let late = await #expect(throws: EventLoopError.self) {
                try await loop.perform { () throws(EventLoopError) in try child.send(signal: SIGTERM) }
            }
            #expect(late?.code == .notFound)
        }
        #expect(exit.withLock { $0 } == .signalled(SIGTERM))
    }

    @Test("many end at once, and each is reported once")
    func many() async throws {
        let ended = Events()
        try await withRunningLoop { loop in
            let children = try await loop.perform { () throws(EventLoopError) in
                var children: [ChildProcess] = []
                for _ in 0..<20 {
                    children.append(try loop.spawn(ChildCommand("true")) { _ in ended.report() })
                }
                return children
            }
            ended.wait(for: children.count)
            #expect(Set(children.map(\.processID)).count == 20)
        }
    }

    @Test("a dropped child is waited for all the same, and its handler is released")
    func drops() async throws {
        let ends = Events()
        let pipe = TestPipe()
        try await withRunningLoop { loop in
            let processID = try await loop.perform { () throws(EventLoopError) in
                try loop.spawn(ChildCommand("cat", standardInput: .descriptor(pipe.reader))) { _ in ends.report() }
                    .processID
            }
            // The child ends when its input does; a second one ends after it and is reported.
            pipe.closeWriter()
            while kill(processID, 0) == 0 {
                let ended = Events()
                let other = try await loop.perform { () throws(EventLoopError) in
                    try loop.spawn(ChildCommand("true")) { _ in ended.report() }
                }
                ended.wait()
                withExtendedLifetime(other) {}
            }
            #expect(errno == ESRCH)
        }
    }

    @Test("a child that outlives the loop keeps running")
    func outlivesTheLoop() async throws {
        let child = try await withRunningLoop { loop in
            try await loop.perform { () throws(EventLoopError) in
                try loop.spawn(ChildCommand("sleep", ["1000"])) { _ in }
            }
        }
        #expect(kill(child.processID, 0) == 0)
        kill(child.processID, SIGKILL)
        var status: Int32 = 0
        #expect(unsafe waitpid(child.processID, &status, 0) == child.processID)
    }

    @Test(
        "what cannot be started is refused with what to do",
        arguments: [
            (ChildCommand("/does/not/exist"), .notFound),
            (ChildCommand("no-such-program-anywhere", environment: ["PATH": "/usr/bin:/bin"]), .notFound),
            (ChildCommand("true", workingDirectory: "/does/not/exist"), .notFound),
            (ChildCommand("/etc/passwd"), .notPermitted), (ChildCommand("true", ["a\0b"]), .invalidArgument),
            (ChildCommand("true", environment: ["A": "\0"]), .invalidArgument),
        ] as [(ChildCommand, EventLoopError.Code)])
    func refuses(command: ChildCommand, code: EventLoopError.Code) async throws {
        try await withRunningLoop { loop in
            let error = await #expect(throws: EventLoopError.self) {
                _ = try await loop.perform { () throws(EventLoopError) in try loop.spawn(command) { _ in } }
            }
            #expect(error?.code == code)
        }
    }
}

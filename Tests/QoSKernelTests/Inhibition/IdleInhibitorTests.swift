import QoSFileTestSupport
import QoSKernel
import Testing

/// The tests have a made program in place of the system's.
@Suite("The inhibitor of idle sleep", .tags(.kernel), .timeLimit(.minutes(5)))
struct IdleInhibitorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("inhibitor")
    }

    /// Makes a program that notes its arguments, and its end.
    private func makeProgram(_ script: String = "while read -r line; do :; done") throws -> InhibitorProgram {
        try folder.writeProgram(
            "systemd-inhibit",
            "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\" >> \"$0.calls\"; done\n\(script)\necho ended >> \"$0.calls\"\n"
        )
        return try #require(InhibitorProgram.find(in: "/no/such/folder:\(folder.path)"))
    }

    private var calls: [Substring] {
        ((try? folder.read("systemd-inhibit.calls")) ?? "").split(separator: "\n")
    }

    @Test("S8 the program runs from the first request to the end of the last, with the first reason")
    func holds() async throws {
        let program = try makeProgram()
        let inhibitor = IdleInhibitor { program }
        #expect(inhibitor.state == .notRequested)
        inhibitor.begin("a long copy") { Issue.record("\($0)") }
        inhibitor.begin("another") { Issue.record("\($0)") }
        while calls.last != "cat" { await Task.yield() }
        #expect(calls.contains("--what=idle") && calls.contains("--why=a long copy") && calls.contains("--mode=block"))
        inhibitor.end()
        #expect(inhibitor.state == .requested && !calls.contains("ended"))
        inhibitor.end()
        #expect(inhibitor.state == .notRequested)
        while calls.last != "ended" { await Task.yield() }
        #expect(!calls.contains("--why=another"))
    }

    @Test("S8 a request that ends at once ends the program, whether it has started or not; the next one starts another")
    func quick() async throws {
        let program = try makeProgram()
        let inhibitor = IdleInhibitor { program }
        for _ in 0..<20 {
            inhibitor.begin("quick") { Issue.record("\($0)") }
            inhibitor.end()
        }
        while calls.count(where: { $0 == "ended" }) < 20 { await Task.yield() }
    }

    @Test(
        "S8 without the program, with one that fails, or that cannot be run, the problem is reported once, and nothing fails"
    )
    func unavailable() async throws {
        let failing = try makeProgram("exit 3")
        try folder.write("no-program", "")
        for (program, problem) in [
            (nil, "systemd-inhibit is not installed"), (failing, "ended with status 3"),
            (InhibitorProgram(path: folder["no-program"]), "posix_spawn failed"),
            (InhibitorProgram(path: folder["missing"]), "posix_spawn failed"),
        ] as [(InhibitorProgram?, String)] {
            let inhibitor = IdleInhibitor { program }
            let (problems, continuation) = AsyncStream.makeStream(of: String.self)
            inhibitor.begin("a") { continuation.yield($0) }
            inhibitor.begin("b") { continuation.yield($0) }
            var iterator = problems.makeAsyncIterator()
            let found = await iterator.next()
            #expect(found?.contains(problem) == true, "\(found ?? "-")")
            #expect(inhibitor.state == found.map(IdleInhibitor.State.unavailable))
            inhibitor.end()
            inhibitor.end()
            #expect(inhibitor.state == .notRequested)
            continuation.finish()
            #expect(await iterator.next() == nil)
        }
    }

    @Test("S8 the doctor is told what is missing")
    func obstacle() {
        let obstacle = InhibitorProgram.obstacle(root: FileRoot(folder.path))
        #expect(obstacle == "systemd-inhibit is not installed" || obstacle == "logind does not run")
    }
}

import Foundation
import Glibc
import QoSKernel
import Testing

@Suite("Identities of processes")
struct ProcessIdentityTests {
    private static let boot = "b0a7c2d4-1111-2222-3333-444455556666"

    /// A made `/proc` with this process and process 70.
    private static func tree(
        boot: String = boot, own: Int32 = getpid(), other: String? = stat(70)
    ) throws -> MadeTree {
        var files = [
            "/proc/sys/kernel/random/boot_id": boot + "\n", "/proc/self/stat": stat(own),
            "/proc/self/ns/pid": "", "/proc/self/ns/time": "",
        ]
        files["/proc/70/stat"] = other
        return try MadeTree(files)
    }

    /// The line of a process. The fields between are as long as the kernel's.
    private static func stat(
        _ number: Int32, name: String = "work", state: String = "S", threads: Int = 3, start: UInt64 = 5000
    ) -> String {
        "\(number) (\(name)) \(state) 1 2 3 0 -1 4194560 7 8 9 10 11 12 13 14 20 0 \(threads) 0 \(start) 1000 200\n"
    }

    @Test("the text of an identity gives the same identity")
    func text() throws {
        let own = try #require(ProcessReader().current())
        #expect(ProcessIdentity(own.description) == own)
        #expect(own.number == getpid())
        #expect(ProcessReader().current() == own)
    }

    @Test(
        "any other text is no identity",
        arguments: [
            "", "host", "linux", "linux:b:1:2:3", "linux:b:1:2:3:4:5", "linux::1:2:3:4", "linux:b:1:2:0:4",
            "linux:b:1:2:-3:4", "linux:b:x:2:3:4", "mac:b:1:2:3:4", "linux:b:1:2:3:", "linux:b:1:2:99999999999:4",
        ])
    func otherText(text: String) {
        #expect(ProcessIdentity(text) == nil)
    }

    @Test(
        "the name of a process may contain spaces, brackets and line ends", arguments: ["a b", ") S 1 (", "x\ny", ")"])
    func names(name: String) throws {
        let tree = try Self.tree(other: Self.stat(70, name: name, start: 77))
        let found = try #require(ProcessReader(root: tree.root) { _ in true }.identity(of: 70))
        #expect(found.number == 70)
        #expect(found.start == 77)
    }

    /// The line of process 70 at a later look, whether a process has the number, and whether the first one is gone.
    struct Look: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let line: String?
        let exists: Bool
        let isGone: Bool
    }

    static let looks = [
        Look(testDescription: "it runs", line: stat(70), exists: true, isGone: false),
        Look(testDescription: "it has another name", line: stat(70, name: "new"), exists: true, isGone: false),
        Look(testDescription: "it is stopped", line: stat(70, state: "T"), exists: true, isGone: false),
        Look(testDescription: "no process has the number", line: nil, exists: false, isGone: true),
        Look(testDescription: "its number has a new process", line: stat(70, start: 5001), exists: true, isGone: true),
        Look(
            testDescription: "its parent has not asked", line: stat(70, state: "Z", threads: 1), exists: true,
            isGone: true),
        Look(
            testDescription: "its first thread has ended before the others", line: stat(70, state: "Z", threads: 4),
            exists: true, isGone: false),
        Look(testDescription: "it is hidden", line: nil, exists: true, isGone: false),
        Look(testDescription: "its line makes no sense", line: "70 (x) S 1", exists: true, isGone: false),
    ]

    @Test("a process is gone if it has ended for certain", arguments: looks)
    func gone(look: Look) throws {
        let tree = try Self.tree()
        let before = try #require(ProcessReader(root: tree.root) { _ in true }.identity(of: 70))
        // The same world: only the file of the process may have changed.
        try tree.write("/proc/70/stat", look.line)
        let reader = ProcessReader(root: tree.root) { number in number != 70 || look.exists }
        #expect(reader.isGone(before) == look.isGone)
    }

    @Test("nobody can tell of a process in another world")
    func worlds() throws {
        let tree = try Self.tree(other: nil)
        let reader = ProcessReader(root: tree.root) { _ in false }
        let own = try #require(reader.current())
        func isGone(_ boot: String, _ processes: UInt64, _ clocks: UInt64) -> Bool {
            let world = ProcessIdentity.World(boot: boot, processes: processes, clocks: clocks)
            return reader.isGone(ProcessIdentity(world: world, number: 70, start: 1))
        }
        let (boot, processes, clocks) = (own.world.boot, own.world.processes, own.world.clocks)
        #expect(isGone(boot, processes, clocks))
        #expect(!isGone("another-boot", processes, clocks))
        #expect(!isGone(boot, processes &+ 1, clocks))
        #expect(!isGone(boot, processes, clocks &+ 1))
    }

    @Test("without a start of the machine, or with the processes of another namespace, there is no identity")
    func unknown() throws {
        let process = try #require(ProcessReader().current())
        for tree in [try Self.tree(boot: " "), try Self.tree(own: getpid() &+ 1), try MadeTree([:])] {
            let reader = ProcessReader(root: tree.root) { _ in false }
            #expect(reader.current() == nil)
            #expect(reader.identity(of: 70) == nil)
            #expect(!reader.isGone(process))
        }
    }

    @Test("a child that is killed is gone, and its descriptor is readable")
    func child() async throws {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/bin/sleep")
        child.arguments = ["1000"]
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        child.terminationHandler = { _ in end.finish() }
        try child.run()
        let reader = ProcessReader()
        let identity = try #require(reader.identity(of: child.processIdentifier))
        guard let descriptor = ProcessDescriptor(child.processIdentifier) else {
            Issue.record("no descriptor of a child")
            return
        }
        let wasReadable = Self.isReadable(descriptor)
        #expect(!wasReadable)
        #expect(!reader.isGone(identity))
        kill(child.processIdentifier, SIGKILL)
        for await _ in ended {}
        #expect(reader.isGone(identity))
        let isReadable = Self.isReadable(descriptor)
        #expect(isReadable)
        #expect(reader.identity(of: child.processIdentifier) != identity)
    }

    private static func isReadable(_ process: borrowing ProcessDescriptor) -> Bool {
        var wait = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&wait, 1, 0) > 0
    }
}

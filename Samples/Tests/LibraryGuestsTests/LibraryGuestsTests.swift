import Foundation
import Testing

/// The first use of real libraries on a worker of each class, each in a process of its own.
@Suite("Threads and children of NIO, GRDB and swift-subprocess")
struct LibraryGuestsTests {
    private static let classes = ["userInteractive", "userInitiated", "default", "utility", "background"]

    @Test(
        "have what the process had at its start, whichever class uses the library first",
        arguments: classes.flatMap { name in
            ["pool", "preference"].flatMap { mode in [true, false].map { (name, mode, $0) } }
        })
    func table(qosClass: String, mode: String, isPrivileged: Bool) throws {
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let rights = isPrivileged ? [] : ["setpriv", "--inh-caps=-sys_nice", "--bounding-set=-sys_nice"]
        process.arguments = rights + [products.appendingPathComponent("library-guests").path, mode, qosClass]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let lines = text.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1) }.filter { $0.count == 2 }
        let start = try #require(lines.first { $0[0] == "start" })
        let others = lines.filter { $0[0] != "start" && $0[0] != "worker" }
        #expect(others.map { String($0[0]) } == ["nio", "nio", "grdb-write", "grdb-read", "subprocess"])
        for other in others {
            // Dispatch gives its threads of userInitiated this value itself, where it may.
            let own = start[1].replacing("nice 0", with: "nice -2")
            #expect(other[1] == start[1] || other[0].hasPrefix("grdb") && other[1] == own, "\(other[0])")
        }
    }
}

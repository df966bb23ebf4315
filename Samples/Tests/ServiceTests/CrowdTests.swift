import Foundation
import Glibc
import SampleTestSupport
import Testing

@Suite("A crowd of clients that do not behave, on a busy machine", .serialized, .timeLimit(.minutes(30)))
struct CrowdTests {
    /// `QOS_CROWD_SEEDS` is the number of rounds.
    private static let seeds = 0..<(UInt64(ProcessInfo.processInfo.environment["QOS_CROWD_SEEDS"] ?? "") ?? 2)

    @Test("bursts of them, whatever they do, leave the next client its answer", arguments: seeds)
    func isAnswered(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let world = try IndexWorld()
        // Nothing but the rules for places can make room: no time limit is near.
        let service = try ServiceProcess(
            [
                world.folder.path, "--index-dir", world.directory, "--port", "0", "--idle-time", "1000",
                "--request-time", "1000", "--connections", "\(Int.random(in: 8...40, using: &random))",
            ],
            errors: world.state["errors"]
        )
        try service.waitUntilListening()
        let hogs = try (0..<Int.random(in: 0...6, using: &random)).map { _ in
            let hog = Process()
            hog.executableURL = URL(filePath: "/bin/sh")
            hog.arguments = ["-c", "ulimit -t 100; while :; do :; done"]
            try hog.run()
            return hog
        }
        // A signal that cannot be blocked: what this thread blocks, its children block too.
        defer { for hog in hogs { kill(hog.processIdentifier, SIGKILL) } }
        for burst in 0..<12 {
            // Fewer than the backlog holds, so that none of them has to connect twice.
            var clients = (0..<200).map { _ in LoopbackSocket(connectingTo: service.port) }
            for _ in 0..<100 { Self.act(&clients, &random) }
            let socket = try LoopbackSocket(port: service.port, patience: 60)
            socket.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let answer = String(decoding: socket.readToEnd(), as: UTF8.self)
            try #require(answer.contains(" 200 "), "seed \(seed), burst \(burst): \(answer)")
        }
    }

    /// One of the clients does something.
    private static func act(_ clients: inout [LoopbackSocket], _ random: inout SeededGenerator) {
        let index = Int.random(in: 0..<clients.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: clients[index].send("GET /healthz HT")
        case 1: clients[index].send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        case 2: clients[index].halfClose()
        case 3:
            clients[index].resetAtEnd()
            clients.remove(at: index)
        default: clients.remove(at: index)
        }
    }
}

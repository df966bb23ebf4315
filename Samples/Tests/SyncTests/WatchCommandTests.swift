import Foundation
import Glibc
import SampleTestSupport
import Testing

@testable import Sync

@Suite("The command qos-sync --watch", .timeLimit(.minutes(5)))
struct WatchCommandTests {
    @Test("--watch syncs again after a change, and ends with a signal")
    func watch() throws {
        let world = try SyncWorld()
        try world.temporary.write("a/d/one", "1")
        let process = try world.start(["--watch", "--interval", "1"], readsLines: true)
        defer { process.terminate() }
        #expect(try #require(process.nextLine()).contains("1 copied"))
        #expect(world.exists("b/d/one"))
        let second = try world.run()
        #expect(second.status == 3)
        #expect(second.errors.contains("Process \(process.identifier) is syncing these folders"))
        try world.temporary.write("b/d/two", "2")
        #expect(try #require(process.nextLine()).contains("1 copied"))
        #expect(try world.temporary.read("a/d/two") == "2")
        process.terminate()
        #expect(process.waitUntilExit() == 128 + SIGTERM)
        #expect(try world.run().status == 0)
    }

    @Test("--watch waits for a folder that is away, and goes on when it is there again")
    func watchAway() throws {
        let world = try SyncWorld()
        try world.temporary.write("a/one", "1")
        let process = try world.start(["--watch", "--interval", "1"], readsLines: true)
        defer { process.terminate() }
        #expect(try #require(process.nextLine()).contains("1 copied"))
        func wait(for text: String) throws {
            while !(try #require(process.nextLine())).contains(text) {}
        }
        for way in ["away", "empty"] {
            try world.temporary.rename("b", "b away")
            // A disk that is not mounted leaves an empty folder.
            if way == "empty" { try world.temporary.makeFolder("b") }
            try wait(for: "Waiting: ")
            try world.temporary.write("a/\(way)", "2")
            if way == "empty" { try world.temporary.remove("b") }
            try world.temporary.rename("b away", "b")
            try wait(for: "there again")
            try wait(for: "1 copied")
            #expect(try world.temporary.read("b/\(way)") == "2" && world.exists("b/one"))
        }
        process.terminate()
        #expect(process.waitUntilExit() == 128 + SIGTERM)
    }

    @Test("--watch with an agent brings changes of both sides, also those of the time without the agent")
    func watchAgent() throws {
        let world = try SyncWorld()
        let (token, place) = (world.temporary["token"], try TemporaryFolder())
        try world.temporary.write("a/d/one", "1")
        func start(port: String) throws -> (StartedCommand, address: String) {
            let agent = try StartedCommand(
                "qos-sync", ["agent", world.b, "--token-file", token, "--port", port], in: place, readsLines: true)
            return (agent, try #require(agent.nextLine()?.split(separator: " ").last.map(String.init)))
        }
        let (first, address) = try start(port: "0")
        let process = try StartedCommand(
            "qos-sync",
            [
                world.a, address, "--token-file", token, "--archive", world.archive, "--watch", "--interval", "1",
            ], in: world.temporary, readsLines: true)
        defer { process.terminate() }
        #expect(try #require(process.nextLine()).contains("1 copied"))
        #expect(try world.temporary.read("b/d/one") == "1")
        // A change here is seen by its event, and one there by the next look.
        try world.temporary.write("a/d/two", "2")
        #expect(try #require(process.nextLine()).contains("1 copied"))
        #expect(try world.temporary.read("b/d/two") == "2")
        try world.temporary.write("b/three", "3")
        #expect(try #require(process.nextLine()).contains("1 copied"))
        #expect(try world.temporary.read("a/three") == "3")

        first.terminate()
        first.waitUntilExit()
        #expect(try #require(process.nextLine()).contains("Is it running"))
        try world.temporary.write("a/four", "4")
        try world.temporary.write("b/five", "5")
        let (second, again) = try start(port: String(address.split(separator: ":").last ?? ""))
        defer { second.terminate() }
        #expect(again == address)
        #expect(try #require(process.nextLine()).contains("answers again"))
        #expect(try #require(process.nextLine()).contains("2 copied"))
        #expect(try world.temporary.read("b/four") == "4" && world.temporary.read("a/five") == "5")
        process.terminate()
        #expect(process.waitUntilExit() == 128 + SIGTERM)
    }
}

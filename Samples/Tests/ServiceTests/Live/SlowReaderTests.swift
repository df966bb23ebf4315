import Glibc
import NIOCore
import NIOEmbedded
import QoSWorkloads
import Testing

@testable import qos_service

@Suite("Clients of the live events that do not read", .serialized, .timeLimit(.minutes(5)))
struct SlowReaderTests {
    @Test("a client gets the newest state only, however many it has missed")
    func newestOnly() async throws {
        let subscriber = Subscriber(EmbeddedChannel(), isTrusted: true) {}
        for number in 0..<100_000 { try subscriber.send(changes: nil) { "\(number)" } }
        subscriber.finish()
        var states: [String] = []
        for await state in subscriber.states { states.append(state) }
        #expect(states == ["99999"])
    }

    @Test("a client whose write does not end is cut off after the limit, and not before")
    func stuck() async throws {
        let channel = EmbeddedChannel()
        try await channel.connect(to: .init(unixDomainSocketPath: "/made")).get()
        let subscriber = Subscriber(channel, isTrusted: true) {}
        subscriber.noteWrite(begins: true)
        subscriber.closeIfStuck(for: .seconds(3600))
        #expect(channel.isActive)
        subscriber.noteWrite(begins: false)
        subscriber.closeIfStuck(for: .zero)
        #expect(channel.isActive, "no write goes on")
        subscriber.noteWrite(begins: true)
        subscriber.closeIfStuck(for: .zero)
        #expect(!channel.isActive)
        for await _ in subscriber.states { Issue.record("the stream has not ended") }
    }

    @Test("a client that stops reading is cut off, and another one gets all states meanwhile")
    func stoppedReader() async throws {
        let world = try await LiveWorld(writeLimit: .seconds(5))
        // Each state is larger than the buffers of a connection.
        let requests = try (0..<150).map { number in
            try WorkloadRequest(
                for: Digest.self, .init(folder: "/"), schedule: .after(.seconds(3600)),
                label: String(repeating: "a long label ", count: 1000) + "\(number)")
        }
        _ = try await world.host.submit(requests)
        let request = "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(world.token)\r\n\r\n"
        let stopped = try LoopbackSocket(port: world.port, patience: 60)
        var size: Int32 = 4096
        unsafe setsockopt(
            stopped.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        stopped.send(request)
        // On a busy machine it may have been cut off before this task looks.
        while world.live.total < 1 { await Task.yield() }
        let reading = try LoopbackSocket(port: world.port, patience: 60)
        reading.send(request)
        let reader = EventReader(reading)
        var states = 0
        while world.live.count != 1 || states < 3 {
            #expect(reader.read(until: "data: {") != "", "the other client goes on")
            states += 1
            try #require(!reader.hasEnded)
        }
        #expect(!reader.hasEnded)
        try await world.stop()
    }
}

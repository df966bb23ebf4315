import Foundation
import NIOCore
import NIOEmbedded
import QoSWorkloads
import Testing

@testable import qos_service

@Suite("Changes of the live view", .timeLimit(.minutes(5)))
struct LivePictureTests {
    private struct Changes: Decodable {
        struct List: Decodable {
            let set: [String: Item]
            let order: [String]?
        }
        struct Item: Decodable {
            let state: String?
        }
        struct Lists: Decodable {
            let items: List?
        }
        let lists: Lists
    }

    private func picture(_ live: LiveWorld) async throws -> LivePicture {
        let snapshot = try await live.host.snapshot(limit: 200, ended: 20)
        return try LivePicture(
            LiveResponse(snapshot, requests: live.requests, runs: RunHistory(), conditions: nil, isTrusted: true))
    }

    private func items(_ changes: String) throws -> Changes.List? {
        try JSONDecoder().decode(Changes.self, from: Data(changes.utf8)).lists.items
    }

    @Test("of two hundred items only the one that moved is sent, and the order if one came or went")
    func sendsChanges() async throws {
        let live = try await LiveWorld()
        let requests = try (0..<150).map { number in
            try WorkloadRequest(
                for: Digest.self, .init(folder: "/"), schedule: .after(.seconds(3600)), label: "\(number)")
        }
        let made = try await live.host.submit(requests)
        let first = try await picture(live)
        let second = try await picture(live)
        #expect(try items(try second.changes(since: first)) == nil, "a wait that grows is no change")
        #expect(try second.changes(since: first).utf8.count < 2000)

        try await made[7].cancel(because: "not wanted")
        let third = try await picture(live)
        let change = try #require(try items(try third.changes(since: second)))
        #expect(change.set.count == 1 && change.set["\(made[7].id.rawValue)"]?.state == "cancelled")

        let one = try await live.host.submit(
            Digest.self, .init(folder: "/"), schedule: .after(.seconds(3600)))
        let more = try #require(try items(try await picture(live).changes(since: third)))
        #expect(more.set.keys.contains("\(one.id.rawValue)") && more.order?.count == 151)
        try await live.stop()
    }

    @Test("a client without the state before gets a whole one: a new one, one that missed changes, and after trouble")
    func sendsWhole() async throws {
        let subscriber = Subscriber(EmbeddedChannel(), isTrusted: true, wantsChanges: true) {}
        var states = subscriber.states.makeAsyncIterator()
        try subscriber.send(changes: "changes 1") { "whole 1" }
        #expect(await states.next() == "whole 1")
        try subscriber.send(changes: "changes 2") { "whole 2" }
        #expect(await states.next() == "changes 2")
        try subscriber.send(changes: "changes 3") { "whole 3" }
        try subscriber.send(changes: "changes 4") { "whole 4" }
        #expect(await states.next() == "whole 4", "it missed the third")
        try subscriber.send(changes: "changes 5") { "whole 5" }
        #expect(await states.next() == "changes 5")
        subscriber.tell("trouble")
        #expect(await states.next() == "trouble")
        try subscriber.send(changes: "changes 6") { "whole 6" }
        #expect(await states.next() == "whole 6")
        let plain = Subscriber(EmbeddedChannel(), isTrusted: true) {}
        var wholes = plain.states.makeAsyncIterator()
        for _ in 0..<2 {
            try plain.send(changes: "changes") { "whole" }
            #expect(await wholes.next() == "whole")
        }
    }
}

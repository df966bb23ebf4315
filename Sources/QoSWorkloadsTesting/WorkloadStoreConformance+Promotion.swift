internal import QoSCore
internal import QoSWorkloads

extension WorkloadStoreConformance {
    static let promotionChecks: [Check] = [
        Check(description: "O5 a new item raises its parents, and theirs, waiting and running") { store in
            let grandparent = try await store.insert(WorkloadRequest("a"))
            let claim = try await store.claimed()
            let parent = try await store.insert(WorkloadRequest("a", dependencies: [.item(grandparent)]))
            let child = try await store.insert(
                WorkloadRequest("a", level: .userInitiated, dependencies: [.item(parent)]))
            let opened = try await store.reopened()
            for id in [grandparent, parent, child] { try await opened.expectLevel(id, .userInitiated) }
            try store.expectEqual(
                try await opened.store.standings(of: [claim.lease])[0], .held(LeaseTerms(level: .userInitiated)),
                "the standing of the running item")
            try store.expectEqual(
                try await opened.record(grandparent).request.level, .background, "the requested level")
        },
        Check(description: "O6 a raised item raises its children, and the parents of both") { store in
            let other = try await store.insert(WorkloadRequest("a"))
            let item = try await store.insert(WorkloadRequest("a"))
            let child = try await store.insert(WorkloadRequest("a", dependencies: [.item(item), .item(other)]))
            let grandchild = try await store.insert(WorkloadRequest("a", dependencies: [.item(child)]))
            try await store.store.raise(item, to: .utility)
            for id in [item, child, other] { try await store.expectLevel(id, .utility) }
            try await store.expectLevel(grandchild, .background)
            try await store.store.raise(item, to: .background)
            try await store.expectLevel(item, .utility)
        },
        Check(description: "O9 an awaited item rises with its parents, and not with its children") { store in
            let parent = try await store.insert(WorkloadRequest("a"))
            let item = try await store.insert(WorkloadRequest("a", dependencies: [.item(parent)]))
            let child = try await store.insert(WorkloadRequest("a", dependencies: [.item(item)]))
            try await store.store.awaited(item, at: .userInitiated)
            try await store.expectLevel(item, .userInitiated)
            try await store.expectLevel(parent, .userInitiated)
            try await store.expectLevel(child, .background)
        },
        Check(description: "a promoted item is claimed before items of its old level, in the middle of many") { store in
            var ids: [WorkloadItemID] = []
            for _ in 0..<50 { ids.append(try await store.insert(WorkloadRequest("a"))) }
            try await store.store.raise(ids[25], to: .utility)
            try store.expectEqual(try await store.claimed().record.id, ids[25], "the next item")
            try store.expectEqual(try await store.claimed().record.id, ids[0], "the one after it")
        },
        Check(description: "a level survives a retry, a deferral and a lost lease") { store in
            let id = try await store.insert(WorkloadRequest("a", retry: RetryPolicy(base: .seconds(1))))
            try await store.store.raise(id, to: .utility)
            let first = try await store.claimed()
            try await store.store.end(first.lease, .failed(error: "e", delay: nil), at: store.at(0))
            let second = try await store.claimed(at: 100)
            try await store.store.end(second.lease, .deferred(reason: "d", delay: nil), at: store.at(100))
            let third = try await store.claimed(at: 200)
            try await store.reclaim(third.lease, at: 230)
            try await store.reopened().expectLevel(id, .utility)
        },
        Check(description: "an item that ended cannot be raised") { store in
            let id = try await store.insert(WorkloadRequest("a"))
            try await store.store.cancel(id, because: "x", at: store.at(0))
            try await store.expectRefusal("a raise after the end") {
                try await store.store.raise(id, to: .utility)
            } as: {
                $0 == .alreadyEnded(id, .cancelled)
            }
            try await store.expectRefusal("a raise of an unknown item") {
                try await store.store.raise(WorkloadItemID(rawValue: 999), to: .utility)
            } as: {
                $0 == .unknownItem(WorkloadItemID(rawValue: 999))
            }
        },
    ]

    static let limitChecks: [Check] = [
        Check(description: "at most so many items of a key run, and a raised one raises those that run") { store in
            let key = ConcurrencyKey("disk", limit: 2)
            var ids: [WorkloadItemID] = []
            for _ in 0..<4 { ids.append(try await store.insert(WorkloadRequest("a", concurrency: key))) }
            let (first, second) = (try await store.claimed(), try await store.claimed())
            try store.expect(try await store.claim() == nil, "a third item of the key was given")
            try await store.expectState(ids[2], .deferred)
            try store.expect(
                try await store.record(ids[2]).life.reason.contains("disk"), "the reason does not name the key")
            try await store.store.raise(ids[3], to: .utility)
            try await store.expectLevel(first.record.id, .utility)
            try await store.expectLevel(second.record.id, .utility)
            try await store.store.end(first.lease, .finished, at: store.at(1))
            try store.expectEqual(try await store.claimed().record.id, ids[3], "the next item of the key")
            try store.expect(try await store.claim() == nil, "a third item of the key was given")
        },
        Check(description: "an item whose condition does not hold is deferred with its reason") { store in
            let id = try await store.insert(WorkloadRequest("a", conditions: [.named("mains")]))
            let free = try await store.insert(WorkloadRequest("a"))
            try store.expectEqual(try await store.claim(unmet: ["mains"])?.record.id, free, "the next item")
            try await store.expectState(id, .deferred)
            try store.expect(
                try await store.record(id).life.reason.contains("mains is missing"), "the reason is not the verdict's")
            try store.expectEqual(try await store.claim()?.record.id, id, "the item with the condition that holds")
        },
        Check(description: "a deferred item of a key does not keep the place from another one") { store in
            let key = ConcurrencyKey("disk")
            let blocked = try await store.insert(
                WorkloadRequest("a", level: .utility, conditions: [.named("x")], concurrency: key))
            let free = try await store.insert(WorkloadRequest("a", concurrency: key))
            let claim = try await store.claim(unmet: ["x"])
            try store.expectEqual(claim?.record.id, free, "the next item")
            guard let claim else { return }
            try store.expect(try await store.claim() == nil, "the key has one place")
            try await store.store.end(claim.lease, .finished, at: store.at(1))
            try store.expectEqual(try await store.claim()?.record.id, blocked, "the item whose condition holds now")
        },
        Check(description: "a paused workload starts nothing, asks what runs to defer, and is resumed") { store in
            let running = try await store.insert(WorkloadRequest("a"))
            let claim = try await store.claimed()
            let waiting = try await store.insert(WorkloadRequest("a"))
            try await store.store.setPaused("a", because: "release day", at: store.at(1))
            let opened = try await store.reopened()
            try store.expectEqual(try await opened.store.pauses(), ["a": "release day"], "the pauses")
            try store.expectEqual(
                try await opened.store.standings(of: [claim.lease])[0],
                .held(LeaseTerms(level: .background, deferral: "release day")), "the standing")
            try await opened.expectState(waiting, .deferred)
            try await store.store.end(claim.lease, .deferred(reason: "release day", delay: nil), at: store.at(2))
            try store.expect(try await opened.claim() == nil, "a paused item was given")
            try await store.store.setPaused("a", because: nil, at: store.at(3))
            try store.expectEqual(try await store.claimed(at: 3).record.id, running, "the next item")
        },
        Check(description: "run now ignores schedule and conditions, and not dependencies") { store in
            let late = try await store.insert(
                WorkloadRequest("a", schedule: .after(.seconds(1000)), conditions: [.named("x")]))
            let child = try await store.insert(WorkloadRequest("a", dependencies: [.item(late)]))
            try await store.store.runNow(late, at: store.at(1))
            try await store.store.runNow(child, at: store.at(1))
            try await store.expectState(child, .blocked)
            let claim = try await store.claim(unmet: ["x"], at: 1)
            try store.expectEqual(claim?.record.id, late, "the next item")
            guard let claim else { return }
            try await store.store.end(claim.lease, .finished, at: store.at(2))
            try await store.expectRefusal("a finished item") {
                try await store.store.runNow(late, at: store.at(3))
            } as: {
                $0 == .alreadyEnded(late, .finished)
            }
        },
    ]
}

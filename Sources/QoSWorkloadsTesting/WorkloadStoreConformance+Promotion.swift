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
                try await opened.store.standings(of: [claim.lease], at: store.at(1))[0],
                .held(LeaseTerms(level: .userInitiated)),
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
        Check(description: "a claim that raises what another host runs is followed by a hint for that host") { store in
            let key = ConcurrencyKey("disk")
            let held = try await store.insert(WorkloadRequest("a", concurrency: key))
            _ = try await store.claimed()
            try await store.insert(
                WorkloadRequest("a", level: .userInitiated, schedule: .after(.seconds(5)), concurrency: key))
            let changes = store.store.changes()
            let claim = try await store.claim(classes: [], host: "second", at: 6)
            try store.expect(claim == nil, "a host without a place got an item")
            try await store.expectLevel(held, .userInitiated)
            try store.expect(await Self.hasElement(changes), "no hint came within ten seconds")
        },
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
        Check(description: "each item of a key goes by its own limit") { store in
            let (narrow, wide) = (ConcurrencyKey("disk", limit: 1), ConcurrencyKey("disk", limit: 3))
            var leases: [WorkloadLease] = []
            for _ in 0..<3 {
                try await store.insert(WorkloadRequest("a", concurrency: wide))
                leases.append(try await store.claimed().lease)
            }
            let first = try await store.insert(WorkloadRequest("a", concurrency: narrow))
            let second = try await store.insert(WorkloadRequest("a", concurrency: wide))
            let third = try await store.insert(WorkloadRequest("a", concurrency: wide))
            try store.expect(try await store.claim() == nil, "a fourth item of the key was given")
            try await store.store.end(leases[0], .finished, at: store.at(1))
            try await store.expectState(first, .deferred)
            try await store.expectState(second, .ready)
            let next = try await store.claimed(at: 1)
            try store.expectEqual(next.record.id, second, "the item whose limit leaves a place")
            try store.expect(try await store.claim(at: 1) == nil, "a fourth item of the key was given")
            for lease in [leases[1], leases[2]] { try await store.store.end(lease, .finished, at: store.at(2)) }
            try store.expectEqual(try await store.claimed(at: 2).record.id, third, "the next item with a place")
            try store.expect(try await store.claim(at: 2) == nil, "an item was given above its own limit")
            for sighting in try await store.store.leases() {
                try await store.store.end(sighting.lease, .finished, at: store.at(3))
            }
            try store.expectEqual(try await store.claimed(at: 3).record.id, first, "the item with the smallest limit")
        },
        Check(description: "a free place of a key is for each class, and for the next item if the first one leaves") {
            store in
            let key = ConcurrencyKey("disk")
            for leaving in 0..<4 {
                let time = Double(leaving)
                try await store.insert(WorkloadRequest("a", level: .userInitiated, concurrency: key), at: time)
                let running = try await store.claimed(at: time)
                let high = try await store.insert(WorkloadRequest("a", level: .utility, concurrency: key), at: time)
                let low = try await store.insert(WorkloadRequest("a", concurrency: key), at: time)
                let next = try await store.insert(WorkloadRequest("a", concurrency: key), at: time)
                let gate = try await store.insert(WorkloadRequest("other"), at: time)
                try store.expect(try await store.claim(at: time) == nil, "a second item of the key was given")
                try await store.store.end(running.lease, .finished, at: store.at(time))
                var expected = next
                switch leaving {
                case 0: expected = low
                case 1: try await store.store.cancel(low, because: "no longer needed", at: store.at(time))
                case 2: try await store.store.addDependency(of: low, on: gate, at: store.at(time))
                default: try await store.store.raise(low, to: .userInteractive)
                }
                let claim = try await store.claim(classes: [.background], at: time)
                try store.expectEqual(claim?.record.id, expected, "the item of the lower class, case \(leaving)")
                if let claim { try await store.store.end(claim.lease, .finished, at: store.at(time)) }
                for id in [high, low, next, gate] where id != expected && !(leaving == 1 && id == low) {
                    try await store.store.cancel(id, because: "done", at: store.at(time))
                }
            }
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
                try await opened.store.standings(of: [claim.lease], at: store.at(1))[0],
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

    /// Whether a stream has an element within ten seconds.
    private static func hasElement(_ stream: AsyncStream<Void>) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await stream.first { true } != nil }
            group.addTask {
                try? await Task.sleep(for: .seconds(10))
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}

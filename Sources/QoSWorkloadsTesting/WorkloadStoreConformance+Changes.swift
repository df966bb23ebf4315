internal import QoSCore
internal import QoSWorkloads

/// Checks of unique keys over whole lives, of updates and versions, and of what a store tells people.
extension WorkloadStoreConformance {
    static let keyChecks: [Check] = [
        Check(description: "a dead item whose unique key has a new holder is not revived") { store in
            let request = WorkloadRequest("a", retry: .never, unique: UniqueKey("k"))
            let dead = try await store.insert(request)
            try await store.store.end(try await store.claimed().lease, .failed(error: "e", delay: nil), at: store.at(1))
            let holder = try await store.insert(request, at: 2)
            try store.expect(holder != dead, "the key of a dead item was not free")
            try await store.expectRefusal("a revival beside the new holder") {
                try await store.reopened().store.runNow(dead, at: store.at(3))
            } as: {
                $0 == .keyTaken("k", by: holder)
            }
            try await store.expectState(dead, .dead)
            try await store.store.cancel(holder, because: "test", at: store.at(4))
            try await store.store.runNow(dead, at: store.at(5))
            try store.expectEqual(try await store.insert(request, at: 6), dead, "the holder after the revival")
        },
        Check(description: "a unique key goes back to the item that its cancelled holder has waited for") { store in
            let request = WorkloadRequest("a", unique: UniqueKey("k", onDuplicate: .append))
            let first = try await store.insert(request)
            let running = try await store.claimed()
            let second = try await store.insert(request, at: 1)
            let third = try await store.insert(request, at: 1)
            try await store.store.cancel(second, because: "test", at: store.at(2))
            try await store.expectState(third, .blocked)
            try store.expectEqual(try await store.record(third).waitsFor, [first], "what the third item waits for")
            try await store.store.cancel(third, because: "test", at: store.at(3))
            let keep = WorkloadRequest("a", unique: UniqueKey("k"))
            try store.expectEqual(
                try await store.reopened().insert(keep, at: 4), first, "the holder while the first item runs")
            try await store.store.end(running.lease, .finished, at: store.at(5))
            try store.expect(try await store.insert(keep, at: 6) != first, "the key was not free after the end")
        },
        Check(description: "a second replacement waits for the running item, too") { store in
            let request = WorkloadRequest("a", unique: UniqueKey("k", onDuplicate: .replace))
            let first = try await store.insert(request)
            let running = try await store.claimed()
            let second = try await store.insert(request, at: 1)
            let third = try await store.insert(request, at: 2)
            try await store.expectState(second, .cancelled)
            try store.expectEqual(try await store.record(third).waitsFor, [first], "what the third item waits for")
            try store.expect(try await store.claim(at: 3) == nil, "two items with the key run")
            try await store.store.end(running.lease, .failed(error: "cancelled", delay: nil), at: store.at(4))
            try await store.expectState(third, .ready)
        },
        Check(description: "an update keeps the number, the attempts and the dependents, and takes the rest") { store in
            func request(_ text: String, _ policy: DuplicatePolicy = .update) -> WorkloadRequest {
                WorkloadRequest(
                    "a", parameters: Array(text.utf8), level: text == "1" ? .background : .utility,
                    retry: RetryPolicy(maximumAttempts: text == "1" ? 1 : 3, base: .zero),
                    conditions: text == "1" ? [] : [.named("x")], unique: UniqueKey("k", onDuplicate: policy),
                    concurrency: text == "1" ? nil : ConcurrencyKey("c"))
            }
            let id = try await store.insert(request("1"))
            let child = try await store.insert(WorkloadRequest("b", dependencies: [.item(id)]))
            try store.expectEqual(
                try await store.store.insert([request("2")], at: store.at(1)), [.existing(id)], "the answer")
            let record = try await store.reopened().record(id)
            try store.expectEqual(record.request, request("2"), "the request")
            try await store.expectLevel(id, .utility)
            try store.expectEqual(try await store.record(child).waitsFor, [id], "the parent of the child")
            try store.expect(try await store.claim(unmet: ["x"], at: 2) == nil, "the old conditions hold")
            let claim = try await store.claimed(at: 3)
            try store.expectEqual(claim.record.request.parameters, Array("2".utf8), "the parameters")
            // A running item takes a place of its new key.
            _ = try await store.store.insert([request("1")], at: store.at(4))
            _ = try await store.store.insert([request("2")], at: store.at(4))
            let other = try await store.insert(WorkloadRequest("a", concurrency: ConcurrencyKey("c")), at: 4)
            try await store.expectState(other, .deferred)
            try await store.store.end(claim.lease, .failed(error: "e", delay: nil), at: store.at(5))
            try store.expectEqual(try await store.record(id).life.attempts, 1, "the attempts after an update")
            try await store.expectRefusal("an update by another workload") {
                _ = try await store.insert(WorkloadRequest("b", unique: UniqueKey("k", onDuplicate: .update)))
            } as: {
                $0 == .otherWorkload(id, "a")
            }
        },
        Check(description: "an updated schedule is planned from the last run, and the same one not again") { store in
            func request(_ schedule: WorkloadSchedule) -> WorkloadRequest {
                WorkloadRequest("a", schedule: schedule, unique: UniqueKey("k", onDuplicate: .update))
            }
            let hour = 3600.0
            let hourly = WorkloadSchedule.every(.seconds(3600), tolerance: .zero)
            let id = try await store.insert(request(hourly))
            // A program that starts anew each 50 minutes does not put the run off.
            for start in [3000.0, 3500] { try await store.insert(request(hourly), at: start) }
            try store.expectEqual(try await store.record(id).due, store.at(hour), "the first run")
            let run = try await store.claimed(at: hour)
            try await store.store.end(run.lease, .finished, at: store.at(hour + 60))
            try await store.insert(request(hourly), at: hour + 3000)
            try store.expectEqual(try await store.record(id).due, store.at(2 * hour), "the second run")
            try await store.insert(request(.every(.seconds(7200), tolerance: .zero)), at: hour + 3001)
            try store.expectEqual(try await store.record(id).due, store.at(3 * hour), "the run of a longer interval")
            // The time of a cron line has passed while nobody was there: it is a missed run.
            let quarters = try WorkloadSchedule.cron("*/15 * * * *")
            try await store.insert(request(quarters), at: hour + 3002)
            let record = try await store.reopened().record(id)
            try store.expect(record.due > store.at(hour) && record.due <= store.at(hour + 900), "due at \(record.due)")
            try await store.expectState(id, .ready)
            try store.expectEqual(record.lastRun, store.at(hour), "the last run")
            try await store.insert(
                WorkloadRequest(
                    "a", schedule: .cron("0 * * * *"), catchUp: .skip, unique: UniqueKey("k", onDuplicate: .update)),
                at: 5 * hour + 10)
            try await store.expectState(id, .scheduled)
        },
        Check(description: "a host leaves items with newer parameters alone") { store in
            let id = try await store.insert(WorkloadRequest("a", version: 2))
            let old = try await store.insert(WorkloadRequest("a"), at: 1)
            let opened = try await store.reopened()
            try store.expectEqual(try await opened.claimed(at: 2).record.id, old, "the item of the older host")
            try store.expect(try await opened.claim(at: 3) == nil, "an older host got newer parameters")
            let record = try await opened.record(id)
            try store.expectEqual(record.state, .ready, "the state of the item with newer parameters")
            try store.expect(record.life.reason.contains("version 2"), "the reason is '\(record.life.reason)'")
            var request = ClaimRequest(host: "new", workloads: ["a"])
            request.versions = ["a": 2]
            try store.expectEqual(
                try await opened.store.claim(request, at: store.at(4))?.record.request.version, 2, "the version")
        },
    ]

    static let lifeChecks: [Check] = [
        Check(description: "a new checkpoint gives the attempt back when its process ends, and the same one does not") {
            store in
            let id = try await store.insert(WorkloadRequest("a", retry: RetryPolicy(maximumAttempts: 2, base: .zero)))
            for round in 1...5 {
                let claim = try await store.claimed(process: "p", at: Double(round))
                try store.expectEqual(claim.record.life.attempts, 1, "the attempt of round \(round)")
                try store.expectEqual(claim.record.life.crashes, round == 1 ? 0 : 1, "the crashes of round \(round)")
                try await store.store.save([UInt8(round)], nil, under: claim.lease)
                try store.expectEqual(try await store.record(id).life.crashes, 0, "the crashes after a checkpoint")
                try await store.reopened().reclaim(claim.lease, because: .processEnded, at: Double(round))
            }
            for attempt in 1...2 {
                let claim = try await store.claimed(process: "p", at: 100)
                try store.expectEqual(claim.record.life.attempts, attempt, "the attempts without a new checkpoint")
                try store.expectEqual(claim.record.life.crashes, attempt, "the crashes in a row")
                try await store.store.save([5], nil, under: claim.lease)
                try await store.reclaim(claim.lease, because: .processEnded, at: 100)
            }
            try await store.expectState(id, .dead)
        },
        Check(description: "a host that stops renewing gets no attempt back") { store in
            let id = try await store.insert(WorkloadRequest("a", retry: .never))
            let claim = try await store.claimed(process: "p")
            try await store.store.save([1], nil, under: claim.lease)
            try await store.reclaim(claim.lease, because: .expired, at: 1)
            try await store.expectState(id, .dead)
        },
        Check(description: "the deferrals of a run are counted until a new checkpoint") { store in
            let id = try await store.insert(WorkloadRequest("a"))
            for round in 1...3 {
                let claim = try await store.claimed(at: Double(round))
                try await store.store.end(
                    claim.lease, .deferred(reason: "r", delay: .zero), at: store.at(Double(round)))
                try store.expectEqual(try await store.reopened().record(id).life.deferrals, round, "the deferrals")
            }
            let claim = try await store.claimed(at: 4)
            try await store.store.end(claim.lease, .deferred(reason: "asked", delay: nil), at: store.at(4))
            try store.expectEqual(try await store.record(id).life.deferrals, 3, "the deferrals after the host's own")
            try await store.store.save([1], nil, under: try await store.claimed(at: 5).lease)
            try store.expectEqual(try await store.record(id).life.deferrals, 0, "the deferrals after a checkpoint")
        },
        Check(description: "failed attempts are kept with their errors, the last ones, until the item is removed") {
            store in
            let retry = RetryPolicy(maximumAttempts: 100, base: .zero)
            let id = try await store.insert(WorkloadRequest("a", retry: retry))
            for number in 1...25 {
                let claim = try await store.claimed(host: "h\(number)", at: Double(number))
                if number == 24 {
                    try await store.reclaim(claim.lease, at: 24.5)
                } else {
                    try await store.store.end(
                        claim.lease, .failed(error: "e\(number)", delay: .zero), at: store.at(Double(number) + 0.5))
                }
            }
            let history = try await store.reopened().store.attempts(of: id)
            try store.expectEqual(history.map(\.number), Array(6...25), "the numbers of the kept attempts")
            let last = WorkloadAttempt(
                fence: 25, number: 25, host: "h25", began: store.at(25), ended: store.at(25.5), error: "e25")
            try store.expectEqual(history.last, last, "the last attempt")
            try store.expectEqual(history.dropLast().last?.host, "h24", "the host of a lost attempt")
            try await store.store.cancel(id, because: "test", at: store.at(30))
            try await store.store.removeEnded(before: store.at(40))
            try store.expectEqual(try await store.store.attempts(of: id), [], "the attempts of a removed item")
        },
        Check(description: "a huge error is cut, and the item says how long it was") { store in
            let id = try await store.insert(WorkloadRequest("a", retry: .never))
            let error = String(repeating: "é", count: 2_500_000)
            try await store.store.end(
                try await store.claimed().lease, .failed(error: error, delay: nil), at: store.at(1))
            let record = try await store.reopened().record(id)
            let texts = [record.life.lastError ?? "", record.life.reason]
            let history = try await store.store.attempts(of: id).map(\.error)
            try store.expect((texts + history).allSatisfy { $0.utf8.count < 5000 }, "a text is long")
            try store.expect(
                texts[0].hasPrefix("éééé") && texts[0].contains("5000000 bytes"), "the error is \(texts[0])")
        },
        Check(description: "a revived item gets back the items that were cancelled because of it, and theirs") {
            store in
            let (parent, other) = (
                try await store.insert(WorkloadRequest("a", level: .utility, retry: .never)),
                try await store.insert(WorkloadRequest("a", retry: .never))
            )
            let child = try await store.insert(WorkloadRequest("b", dependencies: [.item(parent)]))
            let grandchild = try await store.insert(WorkloadRequest("b", dependencies: [.item(child)]))
            let shared = try await store.insert(WorkloadRequest("b", dependencies: [.item(parent), .item(other)]))
            let own = try await store.insert(WorkloadRequest("b", dependencies: [.item(parent)]))
            try await store.store.cancel(own, because: "not wanted", at: store.at(0))
            for second in [1.0, 2] {
                let claim = try await store.claimed(at: second)
                try await store.store.end(claim.lease, .failed(error: "e", delay: nil), at: store.at(second))
            }
            let late = try await store.insert(WorkloadRequest("b", dependencies: [.item(parent)]), at: 3)
            for id in [child, grandchild, shared, late] { try await store.expectState(id, .cancelled) }
            try await store.reopened().store.runNow(parent, at: store.at(4))
            for id in [child, grandchild, late] { try await store.expectState(id, .blocked) }
            try store.expectEqual(try await store.record(grandchild).waitsFor, [child], "the parent of the grandchild")
            // The other parent is still dead, and nobody revives what a person has cancelled.
            for id in [shared, own] { try await store.expectState(id, .cancelled) }
            try await store.store.runNow(other, at: store.at(5))
            try store.expectEqual(try await store.record(shared).waitsFor, [parent, other], "both parents")
            for second in [6.0, 7] {
                let claim = try await store.claim(["a"], at: second)
                if let claim { try await store.store.end(claim.lease, .finished, at: store.at(second)) }
            }
            for id in [child, shared, late] { try await store.expectState(id, .ready) }
            try await store.expectState(grandchild, .blocked)
        },
        Check(description: "an item whose parents one event cancels ends once, and comes back once") { store in
            let root = try await store.insert(WorkloadRequest("a", retry: .never))
            let parents = [
                try await store.insert(WorkloadRequest("b", dependencies: [.item(root)])),
                try await store.insert(WorkloadRequest("b", dependencies: [.item(root)])),
            ]
            let child = try await store.insert(
                WorkloadRequest("b", dependencies: parents.map { .item($0) }, unique: UniqueKey("k")))
            let below = try await store.insert(WorkloadRequest("b", dependencies: [.item(child)]))
            try await store.store.end(
                try await store.claimed().lease, .failed(error: "e", delay: nil), at: store.at(1))
            for id in parents + [child, below] { try await store.expectState(id, .cancelled) }
            let ended = try await store.reopened().store.summary()
            try store.expectEqual([ended.count(.dead), ended.count(.cancelled)], [1, 4], "the ended items")
            try await store.store.runNow(root, at: store.at(2))
            try store.expectEqual(Set(try await store.record(child).waitsFor), Set(parents), "the parents of the child")
            let revived = try await store.reopened().store.summary()
            try store.expectEqual(
                [revived.count(.ready), revived.count(.blocked), revived.count(.cancelled)], [1, 4, 0], "the items")
            for second in [3.0, 4, 5, 6, 7] {
                guard let claim = try await store.claim(at: second) else { break }
                try await store.store.end(claim.lease, .finished, at: store.at(second))
            }
            try store.expectEqual(try await store.store.summary().count(.finished), 5, "the finished items")
        },
        Check(description: "a summary counts all items by class and state, and knows the oldest due time") { store in
            for number in 0..<30 {
                try await store.insert(
                    WorkloadRequest(
                        "a", level: number % 3 == 0 ? .utility : .background,
                        conditions: number % 5 == 0 ? [.named("x")] : []), at: Double(number))
            }
            let parent = try await store.insert(WorkloadRequest("b", level: .userInitiated, retry: .never), at: 30)
            try await store.insert(WorkloadRequest("b", dependencies: [.item(parent)]), at: 31)
            try await store.insert(WorkloadRequest("b", schedule: .after(.seconds(1000))), at: 31)
            // A claim tells the store of the condition.
            let claim = try await store.claim(unmet: ["x"], at: 32)
            let before = try await store.reopened().store.summary()
            try store.expectEqual(before[.userInitiated, .running].count, 1, "the running items")
            try store.expectEqual(before[.utility, .ready].count, 8, "the ready items of utility")
            try store.expectEqual(before[.utility, .ready].oldestDue, store.at(3), "the oldest ready item of utility")
            try store.expectEqual(before[.background, .deferred].count, 4, "the deferred items of background")
            try store.expectEqual(before[.background, .deferred].oldestDue, store.at(5), "the oldest deferred item")
            try store.expectEqual(before[.background, .blocked].count, 1, "the blocked items")
            try store.expectEqual(before[.background, .scheduled].count, 1, "the scheduled items")
            if let claim {
                try await store.store.end(claim.lease, .failed(error: "e", delay: nil), at: store.at(33))
            }
            let after = try await store.store.summary()
            try store.expectEqual(after.count(.dead), 1, "the dead items")
            try store.expectEqual(after.count(.cancelled), 1, "the cancelled items")
            try store.expectEqual(after.count(.running) + after.count(.blocked), 0, "the items that run or are blocked")
            try store.expectEqual(try await store.store.removeEnded(before: store.at(40), in: [.dead]), 1, "removed")
            let rest = try await store.store.summary()
            try store.expectEqual([rest.count(.dead), rest.count(.cancelled)], [0, 1], "the ended items")
        },
        Check(description: "an item with a relative priority is not passed by for ever") { store in
            let low = QoSLevel(.utility, relativePriority: RelativePriority(clamping: -15))
            let old = try await store.insert(WorkloadRequest("a", level: low))
            let young = try await store.insert(WorkloadRequest("a", level: low), at: 500)
            try await store.insert(WorkloadRequest("a", level: .utility), at: 600)
            try await store.insert(WorkloadRequest("b", level: .background), at: 0)
            try await store.store.raiseOverdue(dueBefore: store.at(0))
            try await store.expectLevel(old, .utility)
            try await store.expectLevel(young, low)
            try store.expectEqual(try await store.reopened().claimed(at: 601).record.id, old, "the next item")
            // Items whose key is full, too.
            let keyed = WorkloadRequest("b", level: .userInitiated, concurrency: ConcurrencyKey("c"))
            try await store.insert(keyed, at: 700)
            _ = try await store.claimed(at: 700)
            var late = keyed
            late.level = QoSLevel(.userInitiated, relativePriority: RelativePriority(clamping: -1))
            let parked = try await store.insert(late, at: 701)
            try await store.store.raiseOverdue(dueBefore: store.at(701))
            try await store.expectLevel(parked, .userInitiated)
        },
    ]
}

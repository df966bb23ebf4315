internal import QoSCore
internal import QoSWorkloads

extension WorkloadStoreConformance {
    static let leaseChecks: [Check] = [
        Check(description: "a renewal changes the beat, and tells the level") { store in
            let id = try await store.insert(WorkloadRequest("a"))
            let claim = try await store.claimed()
            let before = try await store.sighting(of: claim.lease)
            try store.expectEqual(before.host, "first", "the host of the lease")
            let standing = try await store.store.renew([claim.lease])[0]
            try store.expectEqual(standing, .held(LeaseTerms(level: .background)), "the standing")
            let after = try await store.reopened().sighting(of: claim.lease)
            try store.expect(after.beat != before.beat, "the beat did not change")
            try await store.store.raise(id, to: .utility)
            let raised = try await store.store.standings(of: [claim.lease], at: store.at(0))[0]
            try store.expectEqual(raised, .held(LeaseTerms(level: .utility)), "the standing of a raised item")
            let again = try await store.sighting(of: claim.lease)
            try store.expect(again.beat == after.beat, "a look at the standing changed the beat")
        },
        Check(description: "a reclaim needs the fence and the beat of the sighting") { store in
            let id = try await store.insert(WorkloadRequest("a"))
            let claim = try await store.claimed()
            let sighting = try await store.sighting(of: claim.lease)
            _ = try await store.store.renew([claim.lease])
            try store.expect(try await !store.reclaim(sighting, at: 1), "a renewed lease was reclaimed")
            let fresh = try await store.reopened().sighting(of: claim.lease)
            try store.expect(try await store.reclaim(fresh, at: 1), "the lease was not reclaimed")
            try store.expect(try await !store.reclaim(fresh, at: 1), "the lease was reclaimed twice")
            let record = try await store.record(id)
            try store.expect(record.life.lastError?.contains("first") == true, "the error does not name the host")
        },
        Check(description: "a lease names the process of its holder, until it ends") { store in
            let id = try await store.insert(WorkloadRequest("a", retry: RetryPolicy(base: .zero)))
            for (host, process) in [("first", "linux:7"), ("a:b\u{1F}c", nil), ("", "x\ny"), ("plain", nil)] {
                let claim = try await store.claimed(host: host, process: process, at: 1)
                let sighting = try await store.reopened().sighting(of: claim.lease)
                try store.expectEqual(sighting.host, host, "the host of the lease")
                try store.expectEqual(sighting.process, process, "the process of the lease")
                try store.expectEqual(try await store.record(id).life.process, process, "the process of the item")
                try await store.reclaim(claim.lease, at: 1)
                try store.expectEqual(try await store.record(id).life.process, nil, "the process after the end")
            }
        },
        Check(description: "a first attempt that ends with its process is repeated at once, a second one later") {
            store in
            let retry = RetryPolicy(maximumAttempts: 3, base: .seconds(10), jitter: 0)
            let id = try await store.insert(WorkloadRequest("a", retry: retry))
            let first = try await store.claimed(process: "1")
            try await store.reclaim(first.lease, because: .processEnded, at: 1)
            try store.expectEqual(
                try await store.record(id).life.lastError, "the process of the host first ended", "the error")
            let second = try await store.claimed(process: "2", at: 1)
            try store.expectEqual(second.record.life.attempts, 2, "the number of attempts")
            try await store.reclaim(second.lease, because: .processEnded, at: 2)
            try store.expect(try await store.claim(at: 21) == nil, "the second loss did not wait for its delay")
            let third = try await store.claimed(process: "3", at: 22)
            try await store.reclaim(third.lease, because: .processEnded, at: 23)
            try await store.expectState(id, .dead)
        },
        Check(description: "a host that lost its lease cannot write anything") { store in
            let id = try await store.insert(WorkloadRequest("a"))
            let old = try await store.claimed().lease
            try await store.store.save([1], nil, under: old)
            try await store.reclaim(old, at: 1)
            let new = try await store.claimed(host: "second", at: 1000)
            try store.expectEqual(new.record.id, id, "the next item")
            try store.expect(new.lease.fence > old.fence, "the fence did not rise")
            try store.expectEqual(new.record.checkpoint, [1], "the checkpoint")
            try await store.expectLost("a checkpoint") { try await store.store.save([2], nil, under: old) }
            try await store.expectLost("a remark") { try await store.store.note("x", under: old) }
            try await store.expectLost("an end") { try await store.store.end(old, .finished, at: store.at(1001)) }
            try store.expectEqual(try await store.store.renew([old, new.lease])[0], .lost, "the standing")
            try store.expectEqual(try await store.record(id).checkpoint, [1], "the checkpoint after a stale write")
            try await store.expectState(id, .running)
            try await store.store.end(new.lease, .finished, at: store.at(1002))
            try await store.expectLost("an end after the end") {
                try await store.store.end(new.lease, .finished, at: store.at(1003))
            }
        },
        Check(description: "a running item that is cancelled ends as cancelled, also by a lost lease") { store in
            for ending in [AttemptResult.failed(error: "stopped", delay: nil), .deferred(reason: "r", delay: nil), nil]
            {
                let id = try await store.insert(WorkloadRequest("a"))
                let claim = try await store.claimed()
                try await store.store.cancel(id, because: "no longer needed", at: store.at(0))
                try await store.expectState(id, .running)
                if let ending {
                    try await store.store.end(claim.lease, ending, at: store.at(0))
                } else {
                    try await store.reclaim(claim.lease, at: 0)
                }
                try await store.expectState(id, .cancelled)
                try store.expectEqual(try await store.record(id).life.reason, "no longer needed", "the reason")
                try await store.expectRefusal("a second cancellation") {
                    try await store.store.cancel(id, because: "x", at: store.at(0))
                } as: {
                    $0 == .alreadyEnded(id, .cancelled)
                }
            }
        },
    ]

    static let crashChecks: [Check] = [
        Check(description: "a process that dies at any point loses nothing that was acknowledged") { store in
            let id = try await store.insert(WorkloadRequest("a", retry: RetryPolicy(base: .seconds(1), jitter: 0)))
            // After the insertion.
            var opened = try await store.reopened()
            try await opened.expectState(id, .ready)
            // After the claim.
            let first = try await opened.claimed(host: "dies first")
            opened = try await opened.reopened()
            try await opened.expectState(id, .running)
            try store.expect(try await opened.reclaim(first.lease, at: 1), "no reclaim")
            // After a checkpoint.
            let second = try await opened.claimed(host: "dies second", at: 10)
            try await opened.store.save([7], WorkloadProgress(7, of: 9), under: second.lease)
            opened = try await opened.reopened()
            try await opened.reclaim(second.lease, at: 11)
            // After the work, before the end.
            let third = try await opened.claimed(host: "dies third", at: 100)
            try store.expectEqual(third.record.checkpoint, [7], "the checkpoint of the next attempt")
            try store.expectEqual(third.record.progress, WorkloadProgress(7, of: 9), "the progress")
            try store.expectEqual(third.record.life.attempts, 3, "the number of attempts")
            opened = try await opened.reopened()
            try await opened.reclaim(third.lease, at: 101)
            // After the end.
            let fourth = try await opened.claimed(at: 1000)
            try await opened.store.end(fourth.lease, .finished, at: store.at(1001))
            opened = try await opened.reopened()
            try await opened.expectState(id, .finished)
            try store.expect(try await opened.claim(at: 2000) == nil, "a finished item was given again")
        },
        Check(description: "an item that kills its process again and again dies, and the others go on") { store in
            let poison = try await store.insert(
                WorkloadRequest("a", level: .utility, retry: RetryPolicy(maximumAttempts: 3, base: .seconds(1))))
            let other = try await store.insert(WorkloadRequest("a"))
            for attempt in 1...3 {
                let claim = try await store.claimed(at: Double(attempt) * 100)
                try store.expectEqual(claim.record.id, poison, "the item of attempt \(attempt)")
                try await store.reclaim(claim.lease, at: Double(attempt) * 100 + 30)
            }
            try await store.expectState(poison, .dead)
            try store.expectEqual(try await store.claimed(at: 500).record.id, other, "the next item")
            try await store.store.runNow(poison, at: store.at(600))
            try store.expectEqual(
                try await store.claimed(at: 600).record.life.attempts, 1, "the attempts after a revival")
        },
    ]
}

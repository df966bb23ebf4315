internal import QoSCore
internal import QoSWorkloads

extension WorkloadStoreConformance {
    static let timeChecks: [Check] = [
        Check(description: "an item is due at its time, and a retry after its delay") { store in
            let retry = RetryPolicy(maximumAttempts: 3, base: .seconds(10), jitter: 0)
            let id = try await store.insert(WorkloadRequest("a", schedule: .after(.seconds(100)), retry: retry))
            try store.expectEqual(try await store.reopened().store.nextDue(), store.at(100), "the next due time")
            try store.expect(try await store.claim(at: 99) == nil, "the item came early")
            let first = try await store.claimed(at: 100)
            try await store.store.end(first.lease, .failed(error: "e", delay: nil), at: store.at(101))
            try await store.expectState(id, .scheduled)
            try store.expectEqual(try await store.store.nextDue(), store.at(111), "the time of the second attempt")
            let second = try await store.claimed(at: 111)
            try await store.store.end(second.lease, .failed(error: "e", delay: .seconds(1)), at: store.at(112))
            try store.expectEqual(try await store.store.nextDue(), store.at(113), "the time of the third attempt")
            let third = try await store.claimed(at: 113)
            try await store.store.end(third.lease, .failed(error: "the last", delay: nil), at: store.at(114))
            try await store.expectState(id, .dead)
            try store.expectEqual(try await store.record(id).life.lastError, "the last", "the last error")
            try store.expect(try await store.store.nextDue() == nil, "a dead item is due")
        },
        Check(description: "S5 a repeating item never runs twice in an interval, over restarts and downtimes") {
            store in
            let schedule = WorkloadSchedule.every(.seconds(100), tolerance: .seconds(20))
            let id = try await store.insert(WorkloadRequest("a", schedule: schedule))
            let first = try await store.claimed(at: 100)
            try await store.store.end(first.lease, .finished, at: store.at(105))
            try await store.expectState(id, .scheduled)
            let opened = try await store.reopened()
            try store.expect(try await opened.claim(at: 199) == nil, "it ran twice in an interval")
            // Ten intervals pass: one run for all.
            let second = try await opened.claimed(at: 1150)
            try await opened.store.end(second.lease, .finished, at: store.at(1151))
            try store.expect(try await opened.claim(at: 1229) == nil, "it caught up more than once")
            try store.expect(try await opened.claim(at: 1230) != nil, "it did not go on")
        },
        Check(description: "S5 the interval counts from the begin of a run, also if the run was deferred meanwhile") {
            store in
            let schedule = WorkloadSchedule.every(.seconds(100), tolerance: .seconds(20))
            let id = try await store.insert(WorkloadRequest("a", schedule: schedule))
            let first = try await store.claimed(at: 190)
            try await store.store.end(first.lease, .deferred(reason: "busy", delay: .seconds(5)), at: store.at(191))
            let second = try await store.claimed(at: 250)
            try await store.store.end(second.lease, .finished, at: store.at(251))
            try store.expectEqual(try await store.record(id).due, store.at(270), "the next run")
        },
        Check(description: "missed runs are all run, or skipped, as the item says") { store in
            let schedule = WorkloadSchedule.every(.seconds(100), tolerance: .zero)
            let all = try await store.insert(WorkloadRequest("a", schedule: schedule, catchUp: .runAll))
            let skipping = try await store.insert(WorkloadRequest("b", schedule: schedule, catchUp: .skip))
            var runs: [WorkloadItemID] = []
            while let claim = try await store.claim(at: 350) {
                runs.append(claim.record.id)
                try await store.store.end(claim.lease, .finished, at: store.at(350))
            }
            try store.expectEqual(runs, [all, all, all], "the runs at 350 s")
            try store.expectEqual(try await store.record(skipping).due, store.at(400), "the next run of the other")
        },
        Check(
            description: "a repeating item that is cancelled while it runs has no further run, also if the run finishes"
        ) {
            store in
            let schedule = WorkloadSchedule.every(.seconds(100), tolerance: .zero)
            let id = try await store.insert(WorkloadRequest("a", schedule: schedule))
            let child = try await store.insert(WorkloadRequest("b", dependencies: [.item(id)]))
            let claim = try await store.claimed(at: 100)
            try await store.store.cancel(id, because: "no more", at: store.at(101))
            try await store.store.end(claim.lease, .finished, at: store.at(102))
            try await store.expectState(id, .cancelled)
            try store.expectEqual(try await store.record(id).life.finishedRuns, 1, "the number of finished runs")
            // It waited for a run, and the run has finished.
            try await store.expectState(child, .ready)
            try store.expectEqual(try await store.claimed(at: 1000).record.id, child, "the next item")
            try store.expect(try await store.claim(at: 1000) == nil, "it ran again")
        },
        Check(description: "the successor of a running repeating item is the only one that repeats") { store in
            let request = WorkloadRequest(
                "a", schedule: .every(.seconds(100), tolerance: .zero), unique: UniqueKey("k", onDuplicate: .replace))
            let first = try await store.insert(request)
            let claim = try await store.claimed(at: 100)
            let second = try await store.insert(request, at: 101)
            try await store.store.end(claim.lease, .finished, at: store.at(102))
            try await store.expectState(first, .cancelled)
            try store.expectEqual(try await store.claimed(at: 1000).record.id, second, "the next item")
            try store.expect(try await store.claim(at: 1000) == nil, "both repeat")
        },
        Check(description: "a repeating item whose attempts are used up keeps the error and its next run") { store in
            let id = try await store.insert(
                WorkloadRequest("a", schedule: .every(.seconds(100), tolerance: .zero), retry: .never))
            try await store.store.raise(id, to: .utility)
            let claim = try await store.claimed(at: 100)
            try await store.store.end(claim.lease, .failed(error: "one bad night", delay: nil), at: store.at(101))
            let record = try await store.record(id)
            try store.expectEqual(record.state, .scheduled, "the state")
            try store.expectEqual(record.life.lastError, "one bad night", "the last error")
            try store.expectEqual(record.life.failedRuns, 1, "the number of failed runs")
            try store.expectEqual(record.level, .background, "the level of the next run")
            try store.expectEqual(record.due, store.at(200), "the next run")
        },
        Check(description: "a clock that is set back makes no delay longer") { store in
            let retry = RetryPolicy(base: .seconds(10), jitter: 0)
            let failing = try await store.insert(WorkloadRequest("a", retry: retry), at: 100_000)
            let claim = try await store.claimed(at: 100_000)
            try await store.store.end(claim.lease, .failed(error: "e", delay: nil), at: store.at(100_000))
            let later = try await store.insert(
                WorkloadRequest("a", schedule: .after(.seconds(50))), at: 100_000)
            let repeating = try await store.insert(
                WorkloadRequest("a", schedule: .every(.seconds(70), tolerance: .zero)), at: 100_000)
            let fixed = try await store.insert(WorkloadRequest("a", schedule: .at(store.at(100_500))), at: 100_000)
            // The clock goes back by more than a day.
            try store.expect(try await store.claim(at: 10) == nil, "an item came early")
            try store.expectEqual(try await store.record(failing).due, store.at(20), "the retry")
            try store.expectEqual(try await store.record(later).due, store.at(60), "the delayed item")
            try store.expectEqual(try await store.record(repeating).due, store.at(80), "the repeating item")
            try store.expectEqual(try await store.record(fixed).due, store.at(100_500), "the item with a date")
            // A second host notices the same change, later: nothing begins anew.
            try store.expect(try await store.reopened().claim(at: 15) == nil, "an item came early")
            try store.expectEqual(try await store.record(failing).due, store.at(20), "the retry, looked at again")
        },
        Check(description: "a clock that is set forward makes items due, and moves no lease") { store in
            let id = try await store.insert(WorkloadRequest("a"))
            let claim = try await store.claimed()
            let before = try await store.sighting(of: claim.lease)
            try await store.insert(WorkloadRequest("a", schedule: .after(.seconds(3600))))
            let other = try await store.claimed(host: "second", at: 1_000_000)
            try store.expect(other.record.id != id, "a running item was given to a second host")
            try store.expectEqual(try await store.sighting(of: claim.lease), before, "the lease")
            guard case .held = try await store.store.renew([claim.lease])[0] else {
                return try store.expect(false, "the lease was lost")
            }
        },
        Check(description: "a file event starts a run, and one during the run another one") { store in
            let trigger = FileEventTrigger(paths: ["/srv"], settling: .seconds(2), limit: .seconds(5))
            let id = try await store.insert(WorkloadRequest("a", schedule: .onFileEvents(trigger)))
            try store.expect(try await store.store.nextDue() == nil, "it is due without an event")
            for second in 0...4 { try await store.store.noteFileChange(for: id, at: store.at(Double(second))) }
            try store.expectEqual(try await store.store.nextDue(), store.at(5), "the end of the events")
            let claim = try await store.claimed(at: 5)
            try await store.store.noteFileChange(for: id, at: store.at(6))
            try await store.store.end(claim.lease, .finished, at: store.at(7))
            try store.expectEqual(
                try await store.store.nextDue(), store.at(9), "the run after the event during the run")
            let second = try await store.claimed(at: 9)
            try await store.store.end(second.lease, .finished, at: store.at(10))
            try store.expect(try await store.store.nextDue() == nil, "it is due without a new event")
            try await store.expectState(id, .scheduled)
        },
        Check(description: "the items on file events can be found among others, for as long as they are kept") {
            store in
            let trigger = FileEventTrigger(paths: ["/srv"])
            // A label that reads like a schedule is none.
            try await store.insert(WorkloadRequest("a", label: "\"onFileEvents\":"))
            let first = try await store.insert(WorkloadRequest("a", schedule: .onFileEvents(trigger)))
            try await store.insert(WorkloadRequest("b", schedule: .every(.seconds(10))))
            let second = try await store.insert(WorkloadRequest("b", schedule: .onFileEvents(trigger)))
            let third = try await store.insert(WorkloadRequest("b", schedule: .onFileEvents(trigger)))
            let opened = try await store.reopened().store
            func found(_ query: WorkloadQuery) async throws -> [WorkloadItemID] {
                try await opened.records(matching: query).map(\.id)
            }
            try store.expectEqual(
                try await found(WorkloadQuery(onFileEvents: true)), [first, second, third], "the items on file events")
            try store.expectEqual(
                try await found(WorkloadQuery(name: "b", onFileEvents: true, after: second)), [third],
                "the items of a workload after another one")
            try await store.store.cancel(second, because: "over", at: store.at(1))
            try store.expectEqual(
                try await found(WorkloadQuery(states: [.scheduled], onFileEvents: true)), [first, third],
                "the open items on file events")
            try await store.store.removeEnded(before: store.at(2))
            try store.expectEqual(
                try await found(WorkloadQuery(onFileEvents: true)), [first, third], "the items that are kept")
        },
    ]
}

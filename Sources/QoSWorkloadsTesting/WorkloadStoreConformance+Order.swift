internal import QoSCore
internal import QoSWorkloads

extension WorkloadStoreConformance {
    static let orderChecks: [Check] = [
        Check(description: "the highest level is claimed first, then the earliest due, then the lowest number") {
            store in
            let late = try await store.insert(WorkloadRequest("a", schedule: .at(store.at(20))))
            let early = try await store.insert(WorkloadRequest("a", schedule: .at(store.at(10))))
            let same = try await store.insert(WorkloadRequest("a", schedule: .at(store.at(10))))
            let high = try await store.insert(WorkloadRequest("a", level: .utility, schedule: .at(store.at(30))))
            let lower = try await store.insert(
                WorkloadRequest(
                    "a", level: QoSLevel(.utility, relativePriority: RelativePriority(clamping: -5)),
                    schedule: .at(store.at(5))))
            for expected in [high, lower, early, same, late] {
                let claim = try await store.claimed(at: 100)
                try store.expectEqual(claim.record.id, expected, "the next item")
            }
            try store.expect(try await store.claim(at: 100) == nil, "there was one more item")
        },
        Check(description: "workloads of the same level take turns") { store in
            for _ in 0..<6 { try await store.insert(WorkloadRequest("a")) }
            for _ in 0..<3 { try await store.insert(WorkloadRequest("b"), at: 1) }
            var names: [WorkloadName] = []
            for _ in 0..<6 { names.append(try await store.claimed(at: 2).record.request.name) }
            try store.expectEqual(names.count { $0 == "b" }, 3, "the turns of the workload that came later")
        },
        Check(description: "a host gets only its workloads, in its classes") { store in
            try await store.insert(WorkloadRequest("a", level: .utility))
            try store.expect(try await store.claim(["b"]) == nil, "an item of another workload was given")
            try store.expect(try await store.claim(classes: [.background]) == nil, "an item of another class was given")
            try store.expect(try await store.claim(["a"], classes: [.utility]) != nil, "the item was not given")
        },
        Check(description: "two hosts that claim at the same time never get the same item") { store in
            let count = 60
            for _ in 0..<count { try await store.insert(WorkloadRequest("a")) }
            let other = try await store.reopened()
            let claimed = try await withThrowingTaskGroup(of: [WorkloadItemID].self) { group in
                for (host, opened) in [("first", store), ("second", other), ("third", store), ("fourth", other)] {
                    group.addTask {
                        var ids: [WorkloadItemID] = []
                        while let claim = try await opened.claim(host: host) { ids.append(claim.record.id) }
                        return ids
                    }
                }
                var all: [WorkloadItemID] = []
                for try await ids in group { all += ids }
                return all
            }
            try store.expectEqual(claimed.count, count, "the number of claims")
            try store.expectEqual(Set(claimed).count, count, "the number of claimed items")
        },
        Check(description: "a selection has its states and names, in pages") { store in
            for _ in 0..<5 { try await store.insert(WorkloadRequest("a")) }
            try await store.insert(WorkloadRequest("b", schedule: .after(.seconds(100))))
            var query = WorkloadQuery(states: [.ready], limit: 2)
            var pages: [Int] = []
            while true {
                let page = try await store.store.records(matching: query)
                guard let last = page.last else { break }
                pages.append(page.count)
                query.after = last.id
            }
            try store.expectEqual(pages, [2, 2, 1], "the sizes of the pages")
            let named = try await store.store.records(matching: WorkloadQuery(name: "b"))
            try store.expectEqual(named.map(\.state), [.scheduled], "the items of a workload")
        },
        Check(description: "ended items stay until they are removed") { store in
            let id = try await store.insert(WorkloadRequest("a"))
            let claim = try await store.claimed()
            try await store.store.end(claim.lease, .finished, at: store.at(10))
            let waiting = try await store.insert(WorkloadRequest("a"))
            try await store.expectState(id, .finished)
            try store.expectEqual(
                try await store.store.removeEnded(before: store.at(10)), 0, "the number of removed items")
            try store.expectEqual(
                try await store.store.removeEnded(before: store.at(11)), 1, "the number of removed items")
            try store.expect(try await store.store.record(of: id) == nil, "the item was not removed")
            try await store.expectState(waiting, .ready)
            let next = try await store.insert(WorkloadRequest("a"))
            try store.expect(next > waiting, "the number \(next) was used again")
        },
        Check(description: "a change is followed by a hint, also one that only lets an item wait") { store in
            let schedules: [WorkloadSchedule] = [
                .now, .after(.seconds(100)), .onFileEvents(FileEventTrigger(paths: ["/srv"])),
            ]
            for schedule in schedules {
                let changes = store.store.changes()
                try await store.insert(WorkloadRequest("a", schedule: schedule))
                var iterator = changes.makeAsyncIterator()
                try store.expect(await iterator.next() != nil, "the stream ended")
            }
        },
    ]
}

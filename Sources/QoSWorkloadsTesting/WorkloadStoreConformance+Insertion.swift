internal import QoSCore
internal import QoSWorkloads

extension WorkloadStoreConformance {
    static let insertionChecks: [Check] = [
        Check(description: "an insertion is whole or not at all") { store in
            let known = try await store.insert(WorkloadRequest("a"))
            try await store.expectRefusal("a list with an unknown parent") {
                _ = try await store.store.insert(
                    [WorkloadRequest("a"), WorkloadRequest("b", dependencies: [.item(WorkloadItemID(rawValue: 999))])],
                    at: store.at(0))
            } as: {
                $0 == .unknownItem(WorkloadItemID(rawValue: 999))
            }
            let items = try await store.store.records(matching: WorkloadQuery())
            try store.expectEqual(items.map(\.id), [known], "the list of items")
        },
        Check(description: "an item is kept as it was inserted") { store in
            let request = WorkloadRequest(
                "a", parameters: Array("{\"x\":1}".utf8), level: QoSLevel(.utility, relativePriority: .normal),
                schedule: .every(.seconds(100)), catchUp: .skip, retry: RetryPolicy(maximumAttempts: 7),
                onFailedParent: .runAnyway,
                conditions: [
                    .onMainsPower, .named("x"), .idle(for: .seconds(90)),
                    try .timeWindow(from: "22:00", to: "06:00", on: [.sunday, .friday]),
                ],
                unique: UniqueKey("k"), concurrency: ConcurrencyKey("c", limit: 3), label: "l")
            let id = try await store.insert(request)
            let record = try await store.reopened().record(id)
            try store.expectEqual(record.request, request, "the request")
            try store.expectEqual(record.inserted, store.at(0), "the time of insertion")
        },
        Check(description: "conditions and schedules that cannot be kept are refused") { store in
            try await store.expectRefusal("an idle time of zero") {
                _ = try await store.insert(WorkloadRequest("a", conditions: [.idle(for: .zero)]))
            } as: {
                $0 == .schedule(.invalidIdleTime(.zero))
            }
            try await store.expectRefusal("an interval of zero") {
                _ = try await store.insert(WorkloadRequest("a", schedule: .every(.zero)))
            } as: {
                if case .schedule = $0 { true } else { false }
            }
            try store.expectEqual(try await store.store.records(matching: WorkloadQuery()), [], "the list of items")
        },
        Check(description: "dependencies by labels may point forward, and a circle is refused by its names") { store in
            let answers = try await store.store.insert(
                [
                    WorkloadRequest("a", dependencies: [.label("second")], label: "first"),
                    WorkloadRequest("b", label: "second"),
                ], at: store.at(0))
            try await store.expectState(answers[0].item, .blocked)
            try store.expectEqual(try await store.record(answers[0].item).waitsFor, [answers[1].item], "the parents")
            try await store.expectRefusal("a circle") {
                _ = try await store.store.insert(
                    [
                        WorkloadRequest("a", dependencies: [.label("y")], label: "x"),
                        WorkloadRequest("a", dependencies: [.label("z")], label: "y"),
                        WorkloadRequest("a", dependencies: [.label("x")], label: "z"),
                    ], at: store.at(0))
            } as: {
                if case .cycle(let names) = $0 { Set(names) == ["x", "y", "z"] } else { false }
            }
            try await store.expectRefusal("a circle over an existing item") {
                try await store.store.addDependency(of: answers[1].item, on: answers[0].item, at: store.at(0))
            } as: {
                if case .cycle(let names) = $0 { names.count == 2 } else { false }
            }
        },
        Check(description: "a unique key keeps, promotes, replaces and appends") { store in
            func insert(_ policy: DuplicatePolicy, _ level: QoSLevel = .background) async throws -> WorkloadInsertion {
                let request = WorkloadRequest("a", level: level, unique: UniqueKey("k", onDuplicate: policy))
                return try await store.store.insert([request], at: store.at(0))[0]
            }
            let first = try await insert(.keep)
            try store.expect(first == .inserted(first.item), "the first was not inserted")
            try store.expectEqual(try await insert(.keep), .existing(first.item), "keep")
            try store.expectEqual(try await insert(.promote, .utility), .existing(first.item), "promote")
            try await store.expectLevel(first.item, .utility)
            let child = try await store.insert(WorkloadRequest("b", dependencies: [.item(first.item)]))
            let second = try await insert(.replace)
            try store.expect(second.item != first.item, "replace kept the item")
            try await store.expectState(first.item, .cancelled)
            try store.expectEqual(
                try await store.record(child).waitsFor, [second.item], "the parent after a replacement")
            let third = try await insert(.append)
            try store.expectEqual(try await store.record(third.item).waitsFor, [second.item], "the parent after append")
            try await store.store.cancel(second.item, because: "test", at: store.at(1))
            try await store.expectState(third.item, .ready)
            // The key is free again after the end of its item.
            try await store.store.cancel(third.item, because: "test", at: store.at(1))
            let fourth = try await insert(.keep)
            try store.expect(fourth == .inserted(fourth.item), "the key was not free after the end")
        },
        Check(description: "the successor of a running item waits for its end") { store in
            let request = WorkloadRequest("a", unique: UniqueKey("k", onDuplicate: .replace))
            let first = try await store.insert(request)
            let claim = try await store.claimed()
            let second = try await store.insert(request)
            try await store.expectState(second, .blocked)
            let standing = try await store.store.standings(of: [claim.lease], at: store.at(1))[0]
            guard case .held(let terms) = standing, terms.cancellation != nil else {
                return try store.expect(false, "the running item was not asked to end: \(standing)")
            }
            try await store.store.end(claim.lease, .failed(error: "cancelled", delay: nil), at: store.at(1))
            try await store.expectState(first, .cancelled)
            try await store.expectState(second, .ready)
        },
        Check(description: "a failed parent cancels its children and theirs, or lets them run, as they say") { store in
            let parent = try await store.insert(WorkloadRequest("a", retry: .never))
            let child = try await store.insert(WorkloadRequest("b", dependencies: [.item(parent)]))
            let grandchild = try await store.insert(WorkloadRequest("b", dependencies: [.item(child)]))
            let stubborn = try await store.insert(
                WorkloadRequest("b", dependencies: [.item(parent)], onFailedParent: .runAnyway))
            let claim = try await store.claimed()
            try await store.store.end(claim.lease, .failed(error: "broken", delay: nil), at: store.at(1))
            try await store.expectState(parent, .dead)
            try await store.expectState(child, .cancelled)
            try await store.expectState(grandchild, .cancelled)
            try await store.expectState(stubborn, .ready)
            let late = try await store.insert(WorkloadRequest("b", dependencies: [.item(parent)]))
            try await store.expectState(late, .cancelled)
        },
    ]
}

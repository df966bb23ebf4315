internal import QoSCore
internal import QoSWorkloads

extension WorkloadStoreConformance {
    static let exchangeChecks: [Check] = [
        Check(description: "a claim of several gives the items that single claims would give, within the places") {
            store in
            for number in 0..<4 {
                try await store.insert(WorkloadRequest(number % 2 == 0 ? "a" : "b"))
                try await store.insert(WorkloadRequest("a", level: .utility))
            }
            let key = ConcurrencyKey("disk", limit: 1)
            for _ in 0..<2 { try await store.insert(WorkloadRequest("b", level: .utility, concurrency: key)) }
            let request = ClaimRequest(
                host: "first", process: "linux:7", workloads: ["a", "b"],
                atMost: [.utility: 3, .background: 2, .userInitiated: 1], verdict: { _ in .met })
            let claims = try await store.store.exchange(HostExchange(claim: request), at: store.at(1)).claims
            try store.expectEqual(
                claims.map { "\($0.record.request.name) \($0.record.level)" },
                ["a utility", "b utility", "a utility", "a background", "b background"], "the claims")
            try store.expectEqual(Set(claims.map(\.record.id)).count, 5, "the number of claimed items")
            for claim in claims {
                let sighting = try await store.reopened().sighting(of: claim.lease)
                try store.expectEqual(sighting.process, "linux:7", "the process of \(claim.lease)")
            }
            var few = request
            few.limit = 1
            let one = try await store.store.exchange(HostExchange(claim: few), at: store.at(1)).claims
            try store.expectEqual(one.count, 1, "the number of claims within the limit")
            few.places = [.userInitiated: 9, .background: 0]
            let none = try await store.store.exchange(HostExchange(claim: few), at: store.at(1)).claims
            try store.expectEqual(none.count, 0, "the number of claims without a place")
        },
        Check(description: "ends together are each an end of its own, and come before the claim") { store in
            let key = ConcurrencyKey("disk", limit: 1)
            var ids: [WorkloadItemID] = []
            for _ in 0..<3 { ids.append(try await store.insert(WorkloadRequest("a", retry: .never))) }
            let first = try await store.insert(WorkloadRequest("b", level: .utility, concurrency: key))
            let next = try await store.insert(WorkloadRequest("b", level: .utility, concurrency: key))
            var leases: [WorkloadLease] = []
            for _ in 0..<4 { leases.append(try await store.claimed().lease) }
            try store.expectEqual(leases[0].item, first, "the first claim")
            try await store.reclaim(leases[1], at: 1)
            let request = ClaimRequest(
                host: "first", workloads: ["b"], atMost: [.utility: 2], verdict: { _ in .met })
            let exchange = HostExchange(
                ends: [
                    AttemptEnd(leases[0], .finished, progress: WorkloadProgress(3, of: 3)),
                    AttemptEnd(leases[1], .finished),
                    AttemptEnd(leases[2], .failed(error: "e", delay: nil)),
                    AttemptEnd(leases[3], .deferred(reason: "later", delay: .seconds(9))),
                ], claim: request)
            let answer = try await store.store.exchange(exchange, at: store.at(1))
            try store.expectEqual(answer.ends, [.finished, nil, .dead, .scheduled], "the states after the ends")
            try store.expectEqual(answer.claims.map(\.record.id), [next], "the claims")
            try store.expectEqual(answer.nextDue, store.at(10), "the next due time")
            let opened = try await store.reopened()
            try await opened.expectState(first, .finished)
            try store.expectEqual(try await opened.record(first).progress, WorkloadProgress(3, of: 3), "the progress")
            try await opened.expectState(leases[2].item, .dead)
            try await opened.expectState(next, .running)
            try store.expect(ids.contains(leases[1].item), "the second claim")
        },
        Check(description: "an exchange tells each request to the holder of a lease, once") { store in
            var leases: [WorkloadLease] = []
            for _ in 0..<4 {
                try await store.insert(WorkloadRequest("a"))
                leases.append(try await store.claimed().lease)
            }
            let other = try await store.reopened()
            var mark: TermsMark?
            func told() async throws -> [LeaseStanding?] {
                let request = ClaimRequest(host: "first", workloads: ["b"], atMost: [.background: 1])
                let exchange = HostExchange(claim: request, leases: leases, mark: mark)
                let answer = try await store.store.exchange(exchange, at: store.at(1))
                mark = answer.mark
                return leases.map { answer.standings[$0] }
            }
            let plain = LeaseStanding.held(LeaseTerms(level: .background))
            try store.expectEqual(try await told(), [plain, plain, plain, plain], "the first standings")
            try await other.store.raise(leases[0].item, to: .utility)
            try store.expectEqual(try await told()[0], .held(LeaseTerms(level: .utility)), "a raise")
            try await store.store.cancel(leases[1].item, because: "stop", at: store.at(1))
            try store.expectEqual(
                try await told()[1], .held(LeaseTerms(level: .background, cancellation: "stop")), "a cancellation")
            try await other.store.setPaused("a", because: "p", at: store.at(1))
            try store.expectEqual(
                try await told()[3], .held(LeaseTerms(level: .background, deferral: "p")), "a pause")
            try await other.reclaim(leases[2], at: 1)
            try store.expectEqual(try await told()[2], .lost, "a lost lease")
        },
    ]
}

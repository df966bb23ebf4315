import Testing

@testable import QoSWorkloads

@Suite("The life of an item")
struct LifeTests {
    private static let now = WallTime(secondsSince1970: 1_000_000)
    private static let retry = RetryPolicy(maximumAttempts: 2, base: .seconds(10), jitter: 0)

    /// All events, in every form that matters.
    private enum Event: Hashable, CaseIterable {
        case due, parents, conditions, ready
        case claimed
        case renewed, renewedStale
        case finished, finishedStale
        case deferred
        case failed
        case expired, expiredAfterBeat, processEnded
        case progressed
        case cancelled
        case revived
    }

    private func apply(_ event: Event, to life: inout WorkloadLife, repeats: Bool) -> String {
        let now = Self.now
        let fence = life.fence
        func end(_ fence: UInt64, _ result: AttemptResult) -> String {
            let ending = life.attemptEnded(under: fence, result, retry: Self.retry, repeats: repeats, seed: 1, at: now)
            return ending.map { "\($0)" } ?? "stale"
        }
        switch event {
        case .due: return "\(life.waitChanged(to: .time("t"), at: now))"
        case .parents: return "\(life.waitChanged(to: .parents("p"), at: now))"
        case .conditions: return "\(life.waitChanged(to: .deferral("c"), at: now))"
        case .ready: return "\(life.waitChanged(to: .host("h"), at: now))"
        case .claimed: return life.claimed(by: "a", in: "p", at: now).map { "\($0)" } ?? "refused"
        case .renewed: return "\(life.renewed(under: fence))"
        case .renewedStale: return "\(life.renewed(under: fence &- 1))"
        case .finished: return end(fence, .finished)
        case .finishedStale: return end(fence &- 1, .finished)
        case .deferred: return end(fence, .deferred(reason: "d", delay: nil))
        case .failed: return end(fence, .failed(error: "e", delay: nil))
        case .expired, .expiredAfterBeat, .processEnded:
            let beat = event == .expiredAfterBeat ? life.beat &+ 1 : life.beat
            let loss = event == .processEnded ? LeaseLoss.processEnded : .expired
            let ending = life.leaseLost(
                under: fence, beat: beat, because: loss, retry: Self.retry, repeats: repeats, seed: 1, at: now)
            return ending.map { "\($0)" } ?? "stale"
        case .progressed:
            if life.state == .running { life.progressed() }
            return "\(life.hasProgressed)"
        case .cancelled: return "\(life.cancelled(because: "stop", at: now))"
        case .revived: return "\(life.revived(at: now))"
        }
    }

    /// The parts of a life that decide its future. Fences and beats only count.
    private struct Essence: Hashable {
        let state: WorkloadState
        let attempts: Int
        let isCancelled: Bool
        let hasError: Bool
        let hasProgressed: Bool

        init(_ life: WorkloadLife) {
            state = life.state
            attempts = life.attempts
            isCancelled = life.cancellation != nil
            hasError = life.lastError != nil
            hasProgressed = life.hasProgressed
        }
    }

    @Test("every event in every reachable state keeps the invariants", arguments: [false, true])
    func walk(repeats: Bool) {
        var open = [WorkloadLife(insertedAt: Self.now)]
        var known: Set<Essence> = [Essence(open[0])]
        var transitions: Set<[WorkloadState]> = []
        while let life = open.popLast() {
            for event in Event.allCases {
                var next = life
                let answer = apply(event, to: &next, repeats: repeats)
                check(life, next, event, answer, repeats: repeats)
                transitions.insert([life.state, next.state])
                if known.insert(Essence(next)).inserted { open.append(next) }
            }
        }
        // No edge leaves an ended state, but for the revival of a dead item.
        for edge in transitions where edge[0].isEnded && edge[0] != edge[1] {
            #expect(edge == [.dead, .scheduled])
        }
        #expect(transitions.contains([.running, .finished]) == !repeats)
        #expect(transitions.contains([.running, .dead]) == !repeats)
        #expect(transitions.contains([.running, .cancelled]))
        #expect(known.count > 15)
    }

    private func check(_ old: WorkloadLife, _ new: WorkloadLife, _ event: Event, _ answer: String, repeats: Bool) {
        let what = "\(event) in \(old.state) of attempt \(old.attempts)"
        #expect((new.state == .running) == (new.host != nil), "\(what): a lease has a holder")
        #expect((new.host == nil) == (new.process == nil), "\(what): a holder has a process")
        #expect(new.state == .running || new.cancellation == nil, "\(what): a request is answered by the end")
        #expect(new.attempts <= Self.retry.maximumAttempts, "\(what)")
        #expect(new.fence >= old.fence, "\(what): fences never fall")
        #expect(!new.reason.isEmpty, "\(what)")
        if old.state.isEnded, event != .revived { #expect(old == new, "\(what): an end is final") }
        if new.state == .running, old.state != .running { #expect(new.fence == old.fence + 1, "\(what)") }
        if repeats { #expect(new.state != .dead && new.state != .finished, "\(what)") }
        switch event {
        case .finishedStale, .renewedStale, .expiredAfterBeat:
            #expect(old == new, "\(what): stale events change nothing")
        case .claimed: #expect((new.state == .running) == (old.state == .ready || old.state == .running), "\(what)")
        case .deferred where old.state == .running && old.cancellation == nil:
            #expect(new.attempts == old.attempts - 1, "\(what): the attempt is given back")
        case .finished where old.state == .running && repeats && old.cancellation != nil:
            #expect(new.state == .cancelled && answer == "runFinished(repeats: false)", "\(what): the last run")
        case .finished where old.state == .running:
            #expect(new.attempts == 0 && new.lastError == nil && new.finishedRuns == old.finishedRuns + 1, "\(what)")
        case .failed where old.state == .running:
            #expect(new.lastError == "e", "\(what)")
        case .processEnded where old.state == .running && old.cancellation == nil && old.hasProgressed:
            #expect(answer == "waits(Optional(0.0 seconds))", "\(what): a new checkpoint")
            #expect(new.attempts == old.attempts - 1 && new.crashes == 1, "\(what): the attempt is given back")
        case .processEnded where old.state == .running && old.cancellation == nil && new.attempts == 1:
            #expect(answer == "waits(Optional(0.0 seconds))", "\(what): repeated at once")
        case .processEnded where old.state == .running && old.cancellation == nil:
            #expect(answer == "runFailed(repeats: \(repeats))", "\(what): the attempts are used up")
        case .cancelled where old.state.isWaiting: #expect(new.state == .cancelled, "\(what)")
        case .cancelled where old.state == .running: #expect(answer == "requested" && new.state == .running, "\(what)")
        default: break
        }
    }

    @Test("a delay is never longer than its limit, and no policy is too large for its arithmetic")
    func delays() {
        let endless = RetryPolicy(base: .seconds(Int64.max), limit: .seconds(Int64.max), jitter: 0)
        #expect(endless.delay(afterAttempt: 1, seed: 1) > .seconds(9_000_000_000))
        #expect(endless.delay(afterAttempt: 300, seed: 1) > .seconds(9_000_000_000))
        #expect(RetryPolicy(base: .seconds(2), jitter: 0).delay(afterAttempt: 2, seed: 1) == .seconds(4))
    }

    @Test("a state keeps the time since when it holds, also with a new reason")
    func since() {
        var life = WorkloadLife(insertedAt: Self.now)
        life.waitChanged(to: .host("a"), at: Self.now)
        life.waitChanged(to: .host("b"), at: Self.now.advanced(by: .seconds(5)))
        #expect(life.since == Self.now)
        #expect(life.reason == "b")
    }

    @Test("delays double, stay below the limit, and the jitter takes away its share at most")
    func backoff() {
        let policy = RetryPolicy(base: .seconds(10), limit: .seconds(100), jitter: 0.5)
        for seed: UInt64 in 0..<200 {
            for (attempt, full) in [(1, 10.0), (2, 20), (3, 40), (4, 80), (5, 100), (50, 100), (100_000, 100)] {
                let delay = policy.delay(afterAttempt: attempt, seed: seed) / .seconds(1)
                #expect(delay > full * 0.5 - 0.001 && delay <= full, "attempt \(attempt), seed \(seed)")
                #expect(delay == policy.delay(afterAttempt: attempt, seed: seed) / .seconds(1))
            }
        }
        let different = Set((0..<100).map { policy.delay(afterAttempt: 1, seed: $0) })
        #expect(different.count > 90)
    }

    @Test("a retry policy with impossible values takes the nearest possible ones")
    func clamped() {
        let policy = RetryPolicy(maximumAttempts: -3, base: .seconds(-1), limit: .seconds(-5), jitter: .nan)
        #expect(policy.maximumAttempts == 1)
        #expect(policy.delay(afterAttempt: 1, seed: 0) == .zero)
        #expect(RetryPolicy(jitter: 7).jitter == 1)
    }
}

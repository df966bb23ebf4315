#if SQLite
/// The calls that wait for a transaction, and the callers that lead one. A value.
///
/// A caller *leads*: it runs the transactions on its own thread, also for calls of others, until its own call has its
/// answer. All others *follow*: they suspend. A call of a higher class than all leaders leads too. It waits for the
/// connection, which raises the one that has it. So no class waits for a lower one that gets no processor.
struct CallQueue {
    /// One more rank than the classes have: heartbeats.
    static let ranks = 6

    private var calls: [[any PendingCall]] = Array(repeating: [], count: ranks)
    private var leaders = Array(repeating: 0, count: ranks)

    /// Adds a call.
    ///
    /// - Returns: whether its caller leads.
    mutating func add(_ call: any PendingCall) -> Bool {
        calls[call.rank].append(call)
        guard leaders[call.rank...].allSatisfy({ $0 == 0 }) else { return false }
        leaders[call.rank] += 1
        return true
    }

    /// Takes the calls of the next transaction: the highest ranks first, and in their order.
    ///
    /// If one of them waits for the disk, all may as well.
    mutating func take(atMost limit: Int) -> [any PendingCall] {
        var taken: [any PendingCall] = []
        for rank in calls.indices.reversed() where taken.count < limit {
            let count = min(calls[rank].count, limit - taken.count)
            taken += calls[rank].prefix(count)
            calls[rank].removeFirst(count)
        }
        return taken
    }

    /// Takes back calls whose transaction did not happen.
    mutating func putBack(_ taken: [any PendingCall]) {
        for call in taken.reversed() { calls[call.rank].insert(call, at: 0) }
    }

    /// Notes that a leader's own call has ended.
    ///
    /// - Returns: the call whose caller leads next; `nil` if nothing waits, or another leader is there for it.
    mutating func leaderEnded(rank: Int) -> (any PendingCall)? {
        leaders[rank] -= 1
        guard let highest = calls.indices.last(where: { !calls[$0].isEmpty }),
            leaders[highest...].allSatisfy({ $0 == 0 })
        else { return nil }
        leaders[highest] += 1
        // Here, before another leader can take the call and answer it: its caller counts as a leader from now on.
        calls[highest].first?.markLeader()
        return calls[highest].first
    }
}
#endif

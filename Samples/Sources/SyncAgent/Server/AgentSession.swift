internal import Glibc
internal import Sync
internal import Synchronization
internal import TreeScan

/// A client's access to the folder, from the beginning of a run to the beginning of the next one.
///
/// A client that did not get an answer does not know whether its last command is still under way. So a new session waits
/// for the end of all changes of the one before, and lets none of them begin any more.
final class AgentSession: Sendable {
    private struct State {
        var changes = 0
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    let identifier: String
    let pair: String
    let replica: LocalReplica
    private let state = Mutex(State())

    init(pair: String, path: String, setsOwners: Bool) throws(TreeScanError) {
        identifier = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
        self.pair = pair
        replica = try LocalReplica(.b, path: path, pair: pair)
        _ = replica.begin(settingOwners: setsOwners)
    }

    /// Lets a change begin. `leave` ends it.
    ///
    /// - Throws: `AgentFailure` if the session has ended.
    func enter() throws(AgentFailure) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.changes += 1 }
            return state.isEnded
        }
        guard !isEnded else { throw .noSession }
    }

    func leave() {
        let waiter = state.withLock { state in
            state.changes -= 1
            guard state.changes == 0 else { return nil as CheckedContinuation<Void, Never>? }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Ends the session. Returns when no change is under way.
    func end() async {
        await withCheckedContinuation { waiter in
            let isQuiet = state.withLock { state in
                state.isEnded = true
                guard state.changes > 0 else { return true }
                state.waiter = waiter
                return false
            }
            if isQuiet { waiter.resume() }
        }
    }
}

extension AgentFailure {
    static let noSession = AgentFailure(
        reason: .session, text: "the session has ended: the agent was started again, or another run began")
}

/// The sessions of an agent, one for each pair.
actor AgentSessions {
    private static let limit = 256

    private let path: String
    private var sessions: [String: AgentSession] = [:]

    init(path: String) {
        self.path = path
    }

    /// Opens a session, after the end of an earlier one of the same pair.
    func open(pair: String, setsOwners: Bool) async throws -> AgentSession {
        let session = try AgentSession(pair: pair, path: path, setsOwners: setsOwners)
        let former = sessions[pair]
        guard former != nil || sessions.count < Self.limit else {
            throw AgentFailure(reason: .command, text: "the agent has too many pairs; start it again")
        }
        sessions[pair] = session
        await former?.end()
        return session
    }

    /// Returns an open session.
    func session(_ identifier: String?) throws(AgentFailure) -> AgentSession {
        guard let session = sessions.values.first(where: { $0.identifier == identifier }) else { throw .noSession }
        return session
    }
}

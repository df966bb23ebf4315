/// Decides whether another connection may be accepted, and which ones are closed to make room for it. A pure value.
///
/// A place passes through these stages. Each change of a stage is an event on a thread of its own.
///
/// | Stage    | The connection                                  | Ends by                            | On           |
/// |----------|-------------------------------------------------|------------------------------------|--------------|
/// | accepted | was taken from the backlog; has no handlers yet | `add`, or `release` if it fails    | its own loop |
/// | fresh    | has had no time to send its first request       | `settle`, `begin`, or `remove`     | its own loop |
/// | idle     | has no request                                  | `begin`, `remove`, or being chosen | its own loop |
/// | busy     | has a request whose answer is not fully written | `finish`, or `remove`              | its own loop |
/// | leaving  | was chosen; is closed on its own loop           | `remove`, or `begin`               | its own loop |
/// | gone     | has lost its handlers                           | `release`                          | listening    |
///
/// The listening loop counts all stages together. Below the limit it accepts. At the limit it stops, and a `release`
/// starts it again. So a place has to become free while clients wait and one of the connections is idle. The rule:
///
/// - **After each event, idle connections leave, the longest idle first, until fewer than the limit are fresh, idle or
///   busy.**
///
/// Accepting cannot stop for good. It stops when the taken places reach the limit. An accepted, fresh, leaving or gone
/// connection has an event under way. Without one of those, all places are idle or busy, and by the rule all of them
/// are busy. The end of a request is an event again, and its time is limited.
///
/// Four orders of events need care:
///
/// - Two are added at the same time, on two loops. The choice and its record are one step here, so two connections
///   leave. If both additions chose the same one, the limit would stay reached, and no other connection would make
///   room.
/// - All are busy when one is added. `finish` applies the rule again when the first of them is idle.
/// - Clients come faster than their first requests are read. A fresh connection does not leave, so the next client
///   waits in the backlog until the first of them settles. Else a burst would cut off clients that have sent a request.
/// - A request arrives on a connection that was chosen and is not closed yet. `begin` keeps it, and another one leaves.
struct ConnectionPlaces<ID: Hashable & Sendable>: Sendable {
    private enum Stage {
        /// Added a moment ago.
        case fresh
        /// Without a request since the event of this number.
        case idle(since: Int)
        case busy
        case leaving
    }

    /// The number of places; at least 2.
    let limit: Int
    /// The number of taken places, in all stages.
    private(set) var taken = 0
    private var stages: [ID: Stage] = [:]
    private var leaving = 0
    private var events = 0

    init(limit: Int) {
        self.limit = max(2, limit)
    }

    /// Whether another connection may be accepted.
    var isAccepting: Bool { taken < limit }

    /// The number of connections that have handlers.
    var count: Int { stages.count }

    /// Whether the connection was chosen to be closed, and no request has come since.
    func isLeaving(_ id: ID) -> Bool {
        if case .leaving = stages[id] { true } else { false }
    }

    /// Takes a place for an accepted connection.
    mutating func take() {
        taken += 1
    }

    /// Gives back the place of a closed connection.
    mutating func release() {
        taken -= 1
    }

    /// Adds a connection, which is fresh.
    ///
    /// - Returns: The connections to close. O(connections) for each.
    mutating func add(_ id: ID) -> [ID] {
        stages[id] = .fresh
        return makeRoom()
    }

    /// Notes that the time for a connection's first request is over. A connection without a request is then idle. Does
    /// nothing if the connection was removed.
    ///
    /// - Returns: The connections to close.
    mutating func settle(_ id: ID) -> [ID] {
        guard case .fresh = stages[id] else { return [] }
        stages[id] = .idle(since: next())
        return makeRoom()
    }

    /// Notes that a request has begun. Does nothing if the connection was removed.
    ///
    /// - Returns: The connections to close.
    mutating func begin(_ id: ID) -> [ID] {
        guard let stage = stages[id] else { return [] }
        if case .leaving = stage { leaving -= 1 }
        stages[id] = .busy
        return makeRoom()
    }

    /// Notes that the last request's answer was written. Does nothing if the connection was removed or leaves.
    ///
    /// - Returns: The connections to close.
    mutating func finish(_ id: ID) -> [ID] {
        guard case .busy = stages[id] else { return [] }
        stages[id] = .idle(since: next())
        return makeRoom()
    }

    /// Forgets a connection, whatever its stage. Its place is free after `release`.
    mutating func remove(_ id: ID) {
        if case .leaving = stages.removeValue(forKey: id) { leaving -= 1 }
    }

    private mutating func next() -> Int {
        events += 1
        return events
    }

    private mutating func makeRoom() -> [ID] {
        var chosen: [ID] = []
        while stages.count - leaving >= limit, let id = longestIdle() {
            stages[id] = .leaving
            leaving += 1
            chosen.append(id)
        }
        return chosen
    }

    private func longestIdle() -> ID? {
        var longest: (id: ID, since: Int)?
        for case (let id, .idle(let since)) in stages where since < longest?.since ?? .max {
            longest = (id, since)
        }
        return longest?.id
    }
}

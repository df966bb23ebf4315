import QoSCore

// The importance that a peer gives to this process (rule M3), as a value.
//
// A request or message of the peer above background is a hold from its first frame on. It ends when its answer has
// left, or its credit is counted, and the work that followed from it has ended. Beside them, the peer has a number of
// explicit holds, which it states as a whole. So no hold can be given back that is not there, and the latest frame
// alone counts.

/// The holds of a peer.
struct PeerHolds: Sendable {
    /// A request or message. No two of a connection have the same, unlike the peer's numbers.
    typealias Key = UInt64

    /// Most explicit holds of a side.
    static let mostExplicit = 65_535

    private struct Request {
        var isImportant: Bool
        var isAnswered = false
        var isWorking = false
    }

    private let isCounting: Bool
    private var requests: [Key: Request] = [:]
    private var lastKey: Key = 0

    /// The requests and messages that are holds.
    private(set) var importantRequests = 0
    /// The explicit holds.
    private(set) var explicit = 0

    /// - Parameter isCounting: whether the peer may give importance. Otherwise it has no holds.
    init(isCounting: Bool) { self.isCounting = isCounting }

    var isHeld: Bool { importantRequests > 0 || explicit > 0 }

    /// Whether a request at a level is a hold.
    static func isImportant(_ level: QoSLevel) -> Bool { level.qosClass > .background }

    /// Begins to follow a request or message of the peer, whose first frame has come.
    mutating func begin(at level: QoSLevel) -> Key? {
        guard isCounting else { return nil }
        lastKey += 1
        let isImportant = Self.isImportant(level)
        requests[lastKey] = Request(isImportant: isImportant)
        if isImportant { importantRequests += 1 }
        return lastKey
    }

    /// Notes that the peer has raised a request.
    mutating func raise(_ key: Key?, to level: QoSLevel) {
        guard let key, requests[key]?.isImportant == false, Self.isImportant(level) else { return }
        requests[key]?.isImportant = true
        importantRequests += 1
    }

    /// Notes that the handler is about to begin. ``endWork(_:)`` has to follow.
    mutating func beginWork(_ key: Key?) {
        if let key { requests[key]?.isWorking = true }
    }

    /// Notes that the handler and the work that followed from it have ended.
    mutating func endWork(_ key: Key) {
        requests[key]?.isWorking = false
        forgetIfDone(key)
    }

    /// Notes that the answer has left, or that a message's credit is counted.
    mutating func answer(_ key: Key?) {
        guard let key else { return }
        requests[key]?.isAnswered = true
        forgetIfDone(key)
    }

    private mutating func forgetIfDone(_ key: Key) {
        guard let request = requests[key], request.isAnswered, !request.isWorking else { return }
        requests[key] = nil
        if request.isImportant { importantRequests -= 1 }
    }

    /// Takes the number of the peer's explicit holds.
    ///
    /// - Throws: ``WireViolation/badContent`` for more than ``mostExplicit``.
    mutating func setExplicit(_ count: UInt64) throws(WireViolation) {
        guard count <= Self.mostExplicit else { throw .badContent }
        explicit = isCounting ? Int(count) : 0
    }

    /// Drops all holds: the connection has ended.
    mutating func drop() {
        requests = [:]
        (importantRequests, explicit) = (0, 0)
    }
}

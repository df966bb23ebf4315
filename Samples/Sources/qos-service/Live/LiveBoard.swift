internal import NIOCore
internal import Synchronization

/// Sends the state of the workloads to the clients of `/events`: at once after a change, and once a second. A client that
/// has a state may get only what changed.
///
/// There is one picture of the state for all clients, and no work without clients.
final class LiveBoard: Sendable {
    /// The shortest time between two states.
    private static let tick = Duration.milliseconds(250)
    /// Ticks between two states without a change.
    private static let quietTicks = 4

    private struct State {
        var subscribers: [Int: WeakSubscriber] = [:]
        var last = 0
        var isEnded = false
    }

    private struct WeakSubscriber {
        weak var value: Subscriber?
    }

    /// The largest number of clients.
    let limit: Int
    private let writeLimit: Duration
    private let history: RunHistory
    private let picture: @Sendable (_ isTrusted: Bool) async throws -> LiveResponse
    private let state = Mutex(State())
    private let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Makes a board.
    ///
    /// - Parameters:
    ///   - limit: The largest number of clients.
    ///   - writeLimit: The time after which a client that takes nothing is cut off.
    ///   - history: Tells when something has changed.
    ///   - picture: Makes the state, for a trusted client or for any.
    init(
        limit: Int,
        writeLimit: Duration,
        history: RunHistory,
        picture: @escaping @Sendable (_ isTrusted: Bool) async throws -> LiveResponse
    ) {
        self.limit = max(1, limit)
        self.writeLimit = writeLimit
        self.history = history
        self.picture = picture
    }

    /// The number of clients.
    var count: Int { state.withLock { $0.subscribers.count } }
    /// The number of clients so far, with those that have left.
    var total: Int { state.withLock { $0.last } }

    /// Adds a client, which leaves when its object ends; nil if there are too many, or the service stops.
    ///
    /// - Parameter wantsChanges: Whether it understands changes of a state.
    func subscribe(_ channel: any Channel, isTrusted: Bool, wantsChanges: Bool = false) -> Subscriber? {
        let subscriber = state.withLock { state -> Subscriber? in
            guard !state.isEnded, state.subscribers.count < limit else { return nil }
            state.last += 1
            let number = state.last
            let subscriber = Subscriber(channel, isTrusted: isTrusted, wantsChanges: wantsChanges) { [weak self] in
                self?.remove(number)
            }
            state.subscribers[number] = WeakSubscriber(value: subscriber)
            return subscriber
        }
        if subscriber != nil { arrived.yield() }
        return subscriber
    }

    private func remove(_ number: Int) {
        state.withLock { _ = $0.subscribers.removeValue(forKey: number) }
    }

    /// Ends all streams. No client is added any more.
    func end() {
        let subscribers = state.withLock { state in
            state.isEnded = true
            return state.subscribers.values.compactMap(\.value)
        }
        for subscriber in subscribers { subscriber.finish() }
    }

    /// Sends states until the task is cancelled, then ends all streams.
    func run() async throws {
        defer { end() }
        for await _ in arrivals {
            var version: Int?
            var last: [Bool: LivePicture] = [:]
            var ticks = 0
            while true {
                let subscribers = state.withLock { $0.subscribers.values.compactMap(\.value) }
                guard !subscribers.isEmpty else { break }
                let now = history.version
                if now != version || ticks >= Self.quietTicks {
                    (version, ticks) = (now, 0)
                    await send(to: subscribers, after: &last)
                }
                for subscriber in subscribers { subscriber.closeIfStuck(for: writeLimit) }
                try await Task.sleep(for: Self.tick, tolerance: Self.tick / 5)
                ticks += 1
                // A new client gets the state at once.
                if count > subscribers.count { version = nil }
            }
        }
        try Task.checkCancellation()
    }

    private func send(to subscribers: [Subscriber], after last: inout [Bool: LivePicture]) async {
        for isTrusted in [true, false] {
            let some = subscribers.filter { $0.isTrusted == isTrusted }
            guard !some.isEmpty else {
                last[isTrusted] = nil
                continue
            }
            // A store that cannot be read shows as an error, and is read again.
            do {
                let response = try await picture(isTrusted)
                var text: String?
                func whole() throws -> String {
                    let made = try text ?? "data: \(JSONResponse.text(response))\n\n"
                    text = made
                    return made
                }
                let next = some.contains(where: \.wantsChanges) ? try LivePicture(response) : nil
                let changes = try next.flatMap { next in
                    try last[isTrusted].map { "event: changes\ndata: \(try next.changes(since: $0))\n\n" }
                }
                last[isTrusted] = next
                for subscriber in some { try subscriber.send(changes: changes, whole: whole) }
            } catch {
                last[isTrusted] = nil
                let text = "event: trouble\ndata: \(StoreTrouble.text(error))\n\n"
                for subscriber in some { subscriber.tell(text) }
            }
        }
    }
}

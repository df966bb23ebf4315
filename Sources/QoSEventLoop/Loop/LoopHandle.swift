/// A handle with a handler for its events.
///
/// The loop's thread calls the handler. Any thread may take it away. The call and the release happen outside the
/// lock, so a handler may close its own watch.
// SAFETY: the superclass says who may touch the memory; what this class adds is protected by a lock.
class LoopHandle<Event>: AnyLoopHandle, @unchecked Sendable {
    typealias Handler = @Sendable (Event) -> Void

    private let handler: LoopLock<Handler?>

    /// Allocates a handle that libuv does not know yet.
    init<Raw>(for type: Raw.Type, owning descriptor: Int32? = nil, handler: @escaping Handler) {
        self.handler = LoopLock(handler)
        super.init(for: type, owning: descriptor)
    }

    /// Calls the handler, unless it was taken away. The loop's thread.
    func report(_ event: Event) {
        handler.withLock { $0 }?(event)
    }

    /// Takes the handler away: no call of it begins after this returned. Any thread.
    override func silence() {
        let previous = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        withExtendedLifetime(previous) {}
    }

    /// The object behind a handle that libuv hands to a callback of this kind of event. The loop's thread.
    static func of<Raw>(_ raw: UnsafeMutablePointer<Raw>?) -> LoopHandle<Event>? {
        unsafe AnyLoopHandle.behind(raw) as? LoopHandle<Event>
    }
}

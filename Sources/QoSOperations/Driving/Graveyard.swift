import QoSKernel

/// Releases what operations hold that never ran, without recursion.
///
/// A body may hold the operation whose result it uses, that one's body the next, and so on for a million of them; released in
/// the ordinary way each would stand on the stack until the last one is gone.
enum Graveyard {
    private struct State {
        var items: [any Sendable] = []
        var isDigging = false
    }

    private static let state = Lock(State())

    /// Takes what somebody holds and releases it, now or, when that happens in the course of releasing another, afterwards.
    static func bury<Item: Sendable>(_ item: inout Item?) {
        let digs = state.withLock { state in
            // From here on the list alone holds it: it must not be released by this function's caller.
            if let taken = item { state.items.append(taken) }
            item = nil
            defer { state.isDigging = true }
            return !state.isDigging
        }
        guard digs else { return }
        while release() {}
    }

    private static func release() -> Bool {
        let item: (any Sendable)? = state.withLock { state in
            if let last = state.items.popLast() { return last }
            state.isDigging = false
            return nil
        }
        return item != nil
    }
}

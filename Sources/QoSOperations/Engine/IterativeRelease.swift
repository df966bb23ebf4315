import QoSKernel

/// Releases the contents of operations that never ran, without recursion.
///
/// A body may hold the operation whose result it uses, and so on, over a chain of a million. An ordinary release would
/// keep each of them on the stack until the last one is gone.
enum IterativeRelease {
    private struct State {
        var items: [any Sendable] = []
        var isDigging = false
    }

    private static let state = Lock(State())

    /// Releases an item: at once, or after the present release if it happens within one.
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

import QoSKernel

/// Releases the contents of operations that never ran, and asked conditions, without recursion.
///
/// A body may hold the operation whose result it uses, and so on, over a chain of a million. So may a condition, and a
/// closure to call at the end. An ordinary release would keep each of them on the stack until the last one is gone.
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

    /// Releases all items of a list in the same way.
    static func bury<Item: Sendable>(_ items: inout [Item]) {
        guard !items.isEmpty else { return }
        var list: [Item]? = items
        items = []
        bury(&list)
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

import _Concurrency

/// Waits until the calling task has a priority at least; the suite's time limit ends it if that never comes.
///
/// A waiter is counted before it raises. A test that sees the waiter does not yet know about the raise.
func raised(to priority: TaskPriority) async {
    while Task.currentPriority < priority { await Task.yield() }
}

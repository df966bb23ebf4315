import _Concurrency

/// Waits until the calling task has a priority at least; the suite's time limit ends it if that never comes.
///
/// Who waits is counted before it raises, so a test that sees a waiter does not know yet that the raise is done.
func raised(to priority: TaskPriority) async {
    while Task.currentPriority < priority { await Task.yield() }
}

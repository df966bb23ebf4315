/// A random move of the program, with its count.
enum Move: String, CaseIterable, Sendable {
    /// A task that plays on, with or without being awaited.
    case task
    /// A group of children.
    case group
    /// A suspension that something else ends.
    case continuation
    /// Yields, checkpoints and short computing.
    case yield
    /// Sleeps with random tolerance.
    case sleep
    /// Calls of default actors.
    case actor
    /// Calls of actors on serial executors.
    case serialActor = "serial-actor"
    /// Closures on queues.
    case item
    /// Closures that run alone.
    case barrier
    /// Synchronous submissions.
    case sync
    /// Synchronous submissions from within items, in any order of queues.
    case nestedSync = "nested-sync"
    /// Submissions that are awaited.
    case run
    /// Closures that are submitted later.
    case delayed
    /// Items that would be submitted in an hour and are cancelled.
    case far
    /// Items that are cancelled, awaited and notify.
    case workItem = "work-item"
    /// Groups of items.
    case workGroup = "work-group"
    /// Repeating timers that are cancelled.
    case timer
    /// Queues that are suspended and resumed.
    case suspend
    /// Mutexes for tasks, alone and in order.
    case asyncMutex = "async-mutex"
    /// Semaphores for tasks.
    case semaphore
    /// Mutexes for threads.
    case mutex
    /// Mutexes for threads in any order.
    case nestedMutex = "nested-mutex"
    /// Calls that block and say so.
    case blocking
    /// Calls that block without saying so.
    case hiddenBlocking = "hidden-blocking"
    /// Jobs that compute and stop at checkpoints.
    case checkpoint
    /// Cancellations of other tasks.
    case cancel
    /// Raises of other tasks.
    case raise
    /// Width limits, which are lifted again.
    case width
    /// Threads that are joined.
    case thread
    /// Operations with dependencies, some cancelled.
    case operation

    /// Whether a thread that runs no task can do it as well.
    var isForThreads: Bool {
        switch self {
        case .item, .barrier, .sync, .nestedSync, .delayed, .far, .timer, .suspend, .mutex, .nestedMutex,
            .hiddenBlocking,
            .cancel, .raise, .width:
            true
        default: false
        }
    }
}

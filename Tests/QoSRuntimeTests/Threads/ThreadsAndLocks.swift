import Testing

/// The suite of tests that put a kernel of their own in the place of the process's: one test at a time.
@Suite("Threads and locks in front of a simulated kernel", .serialized, .timeLimit(.minutes(5)))
struct ThreadsAndLocks {}

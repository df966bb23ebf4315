internal import Glibc

/// A thread of the operating system, owned by one place in the program.
///
/// The initializer starts the thread. Its owner ends the ownership with ``join()`` or ``detach()``. Dropping the value
/// detaches.
///
/// The new thread has Dispatch's signal mask (`cqos_guests_thread_mask`), SIGABRT open as well. So the process's signals go to the event
/// loop, a crash reaches its handler, a crash report contains the thread, and a profiler's SIGPROF hits it.
///
/// It has the nice value, policy, I/O priority, timer slack and affinity with which the first thread of ours began:
/// threads that are lowered or bound make none themselves (``LibraryThreads``).
package struct Thread: ~Copyable, Sendable {
    /// The kernel's id; valid until the thread has ended.
    package let id: ThreadID

    /// Why the thread has its creator's name, if naming it failed; naming never keeps a thread from running.
    package let namingError: KernelError?

    /// Nil once joined or detached.
    private var handle: ThreadHandle?

    /// Starts a thread and returns when it runs: its ``id`` is known and it has its name.
    ///
    /// Costs some 20 µs of processor time and one wake-up on each side.
    ///
    /// - Parameters:
    ///   - name: as tools show it; cut to 15 bytes (``ThreadName``).
    ///   - stackSize: bytes, at least 16 KiB, rounded up to pages; `nil` is the system's default, often 8 MiB,
    ///     of which only what is touched costs memory.
    ///   - calls: the seam through which the thread is made and named.
    ///   - body: what the thread does; it ends when this returns.
    /// - Throws: `pthread_create` with EAGAIN when a limit on threads is reached, EINVAL for an unusable stack size.
    package init(
        name: String,
        stackSize: Int? = nil,
        calls: any SchedulingCalls = LinuxSchedulingCalls(),
        _ body: @escaping @Sendable () -> Void
    ) throws(KernelError) {
        let start = Start()
        handle = try calls.createThread(stackSize: stackSize) {
            start.report(named: ThreadName(name), calls: calls)
            body()
        }
        (id, namingError) = start.awaitReport()
    }

    deinit {
        handle?.detach()
    }

    /// Waits until the thread has ended.
    ///
    /// - Throws: EDEADLK when the thread is the calling one; it is then detached, so that nothing leaks.
    package consuming func join() throws(KernelError) {
        guard let handle else { return }
        self.handle = nil
        guard id != .current else {
            handle.detach()
            throw KernelError(.joinThread, code: EDEADLK, subject: "\(id)")
        }
        let code = handle.join()
        guard code == 0 else { throw KernelError(.joinThread, code: code, subject: "\(id)") }
    }

    /// Gives up the ownership: the thread runs on and its resources go with its end.
    package consuming func detach() {
        handle?.detach()
        handle = nil
    }
}

/// The handshake between the creator and the new thread: the id and the name's fate, and a token that says so.
private final class Start: Sendable {
    private let outcome = Lock<(ThreadID, KernelError?)?>(nil)
    private let creator = Parker()

    /// Called once, by the new thread.
    func report(named name: ThreadName, calls: any SchedulingCalls) {
        let id = ThreadID.current
        var failure: KernelError?
        do {
            try calls.setName(name, of: id)
        } catch {
            failure = error
        }
        outcome.withLock { [failure] in $0 = (id, failure) }
        creator.unpark()
    }

    /// Called once, by the creator.
    func awaitReport() -> (ThreadID, KernelError?) {
        while true {
            creator.park()
            if let known = outcome.withLock({ $0 }) { return known }
        }
    }
}

internal import CQoSGuests
internal import Glibc

extension LinuxSchedulingCalls {
    package func createThread(
        stackSize: Int?, _ body: @escaping @Sendable () -> Void
    ) throws(KernelError) -> ThreadHandle {
        let size = stackSize.map { "a stack of \($0) bytes" } ?? "the default stack"
        var attributes = pthread_attr_t()
        var code = unsafe pthread_attr_init(&attributes)
        guard code == 0 else { throw KernelError(.createThread, code: code, subject: size) }
        defer { unsafe pthread_attr_destroy(&attributes) }
        if let stackSize {
            // The C library takes the size for unsigned: a negative one would be an enormous one.
            code = stackSize < 0 ? EINVAL : unsafe pthread_attr_setstacksize(&attributes, Self.wholePages(stackSize))
            guard code == 0 else { throw KernelError(.createThread, code: code, subject: size) }
        }

        // The new thread is born with the mask: there is no moment in which it could be chosen for a signal.
        var blocked = sigset_t()
        unsafe cqos_guests_thread_mask(&blocked)
        // The thread's own raise(SIGABRT) ends the process here, as on the main thread.
        unsafe sigdelset(&blocked, SIGABRT)
        var raw = pthread_t()
        let box = unsafe Unmanaged.passRetained(ThreadBody(body))
        code = unsafe cqos_guests_create_own(
            &raw, &attributes, &blocked,
            { box in
                cqos_guests_set_rule(CQOS_GUEST_RULE_OWN)
                if let box = unsafe box {
                    unsafe Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run()
                }
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            unsafe box.release()
            throw KernelError(.createThread, code: code, subject: size)
        }
        return ThreadHandle(raw)
    }

    private static func wholePages(_ bytes: Int) -> Int {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        guard bytes <= Int.max - page else { return bytes }
        return (bytes + page - 1) / page * page
    }
}

/// Carries the closure across the C call.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

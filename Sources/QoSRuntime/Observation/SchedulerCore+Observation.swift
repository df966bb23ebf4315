extension SchedulerCore {
    /// Tells the observer, if there is one.
    @inline(__always)
    func observe(_ event: @autoclosure () -> SchedulerEvent) {
        configuration.observer?.observe(event())
    }

    /// Lets the observer, if there is one, be told of waits that nothing can be done about (rule I5), until the listener is taken back.
    ///
    /// Locks belong to the process: of a wait on another scheduler's worker that one's observer is told.
    func observeWaits() -> InversionDetection.Token? {
        guard let observer = configuration.observer else { return nil }
        let own = ObjectIdentifier(self)
        return InversionDetection.listen { report in
            if let worker = unsafe Worker.current, unsafe ObjectIdentifier(worker.pointee.pool.pointee.core) != own {
                return
            }
            observer.observe(.waiting(report))
        }
    }
}

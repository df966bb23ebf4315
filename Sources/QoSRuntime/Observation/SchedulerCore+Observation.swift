extension SchedulerCore {
    /// Tells the observer, if there is one.
    @inline(__always)
    func observe(_ event: @autoclosure () -> SchedulerEvent) {
        configuration.observer?.observe(event())
    }
}

/// A receiver of a host's events, for example a log or metrics.
public protocol WorkloadObserver: Sendable {
    /// Receives an event, on any thread, while the host waits. The call returns quickly.
    func observe(_ event: WorkloadHostEvent)
}

extension WorkloadHost.Configuration {
    /// Adds a receiver of the host's events. Earlier ones stay.
    public mutating func addObserver(_ new: some WorkloadObserver) {
        let earlier = observer
        observer = { event in
            earlier(event)
            new.observe(event)
        }
    }
}

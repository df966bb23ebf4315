internal import CoreMetrics

/// The service's metrics. `/metrics` shows them by these names.
enum ServiceMetrics {
    /// Searches that run in a lane now.
    static func running(lane: String) -> Meter {
        let meter = Meter(label: "qos.service.searches.running", dimensions: [("lane", lane)])
        meter.set(0)
        return meter
    }

    /// Searches that left the quick lane because they took too long there.
    static let slowed = Counter(label: "qos.service.searches.slowed")
    /// Searches that reached the time limit.
    static let timedOut = Counter(label: "qos.service.searches.timed.out")
    /// Searches that were ended because the client hung up or the service stops.
    static let cancelled = Counter(label: "qos.service.searches.cancelled")
    /// Searches that were refused because too many waited.
    static let refused = Counter(label: "qos.service.searches.refused")
    /// Connections that could not be accepted for lack of descriptors or memory.
    static let acceptFailures = Counter(label: "qos.service.accept.failures")
    /// Idle connections that were closed to make room for others.
    static let evicted = Counter(label: "qos.service.connections.evicted")
    /// Open connections.
    static let connections = Gauge(label: "qos.service.connections")
}

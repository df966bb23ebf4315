/// One search of a load. Times are in milliseconds, but `due` is in seconds.
struct SearchSample: Codable {
    let query: String
    /// The moment at which the search was due, from the begin of the load.
    let due: Double
    /// The time from then until a client sent it: the earlier searches of its client were late.
    let wait: Double
    /// The time from the due moment to the answer.
    let latency: Double
    /// The service's own part of it: from the arrival at the handler to the answer.
    let service: Double
}

extension [SearchSample] {
    /// The latencies, sorted.
    var latencies: [Double] { map(\.latency).sorted() }
}

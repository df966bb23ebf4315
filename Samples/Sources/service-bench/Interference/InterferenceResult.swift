/// What one turn beside one neighbour showed. Times of searches are in milliseconds.
struct InterferenceResult: Codable {
    let neighbour: String
    let turn: Int
    /// Searches a second.
    let rate: Double
    let searches: Int
    let p50: Double
    let p99: Double
    let p999: Double
    /// Seconds until the work was done; nil without work.
    let seconds: Double?
}

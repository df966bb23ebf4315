import Foundation

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
    /// Seconds until each part of the work was done, by ``WorkPart``; nil without work.
    var parts: [String: Double]?

    /// Reads what an interference run has written with `--json`.
    static func read(_ file: String) throws -> [InterferenceResult] {
        try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            .map { try JSONDecoder().decode(InterferenceResult.self, from: Data($0.utf8)) }
    }
}

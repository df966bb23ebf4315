import Foundation
import QoSSQLiteStore

/// Figures of workloads, one a line: `name = value unit`, with the target and the verdict.
///
///     qos-bench-store [W] [H] [D] [E] [IDLE] [--items N]
///
/// Without a name it measures all. `--items` is the number of waiting items for the claims of W, 1,000,000 without it.
@main
struct StoreBench {
    static let names = ["W", "H", "D", "E", "IDLE"]

    static func main() async throws {
        var chosen: [String] = []
        var items = 1_000_000
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            if argument == "--items", let number = arguments.popFirst().flatMap({ Int($0) }), number >= 1000 {
                items = number
            } else if names.contains(argument) {
                chosen.append(argument)
            } else {
                FileHandle.standardError.write(
                    Data("usage: qos-bench-store [\(names.joined(separator: "] ["))] [--items N], 1000 or more\n".utf8))
                exit(64)
            }
        }
        let folder = NSTemporaryDirectory() + "qos-bench-store-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in chosen.isEmpty ? names : chosen {
            switch name {
            case "W": try await StoreRates.run(in: folder, waiting: items)
            case "H": try await HostRates.run(in: folder)
            case "D": try await PromotionBench.run(in: folder)
            case "E": try await DeferralBench.run(in: folder)
            default: try await IdleBench.run(in: folder)
            }
        }
    }
}

/// A limit that a figure should keep.
enum Target {
    case atLeast(Double)
    case atMost(Double)

    /// The limit and the verdict.
    func verdict(on value: Double) -> String {
        switch self {
        case .atLeast(let limit): "(≥ \(limit.formatted())): \(value >= limit ? "met" : "missed")"
        case .atMost(let limit): "(≤ \(limit.formatted())): \(value <= limit ? "met" : "missed")"
        }
    }
}

/// Prints a figure.
func say(_ name: String, _ value: Double, _ unit: String, _ target: Target? = nil) {
    let text = ["\(name) = \(String(format: "%.2f", value))", unit, target?.verdict(on: value) ?? ""]
    print(text.filter { !$0.isEmpty }.joined(separator: " "))
    fflush(nil)
}

/// The seconds since a moment.
func seconds(since begin: ContinuousClock.Instant) -> Double { (ContinuousClock.now - begin) / .seconds(1) }

/// Uses a processor for a time.
func spin(for time: Duration) {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {}
}

/// The stores that a benchmark compares, with their names.
func stores(in folder: String, _ name: String) throws -> [(String, any WorkloadStore)] {
    [("memory", InMemoryWorkloadStore()), ("SQLite", try SQLiteStore(at: "\(folder)/\(name)"))]
}

import BenchCore
import FoundationEssentials

extension RawFigures {
    /// Reads what a peer has printed; `nil` when it is something else.
    ///
    /// A value is a number, or a list of latencies in nanoseconds, of which the quantiles are taken here and not in
    /// each language.
    init?(json: String) {
        guard let values = try? JSONDecoder().decode([String: Value].self, from: Data(json.utf8)) else { return nil }
        self.init()
        for (key, value) in values {
            switch value {
            case .number(let number): self[key] = number
            case .latencies(let latencies): addLatencies(key, latencies)
            }
        }
    }

    private enum Value: Decodable {
        case number(Double)
        case latencies([Double])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .latencies(try container.decode([Double].self))
            }
        }
    }
}

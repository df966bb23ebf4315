/// The case that a peer measures: a name and parameters, as text `name,key=value,…`.
public struct CaseName: Sendable, Hashable {
    /// The workload.
    public let name: String

    /// The parameters, in the order of the text.
    public let parameters: [Parameter]

    /// One `key=value`.
    public struct Parameter: Sendable, Hashable {
        /// Before the equals sign.
        public let key: String
        /// Behind it.
        public let value: Double
    }

    /// Makes a name from its parts.
    public init(_ name: String, _ parameters: KeyValuePairs<String, Double> = [:]) {
        self.name = name
        self.parameters = parameters.map { Parameter(key: $0.key, value: $0.value) }
    }

    /// Reads the text form; `nil` for a parameter without a number.
    public init?(text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        var parameters: [Parameter] = []
        for part in parts.dropFirst() {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, let value = Double(sides[1]) else { return nil }
            parameters.append(Parameter(key: String(sides[0]), value: value))
        }
        name = parts.first.map(String.init) ?? ""
        self.parameters = parameters
    }

    /// The parameter of that key; 0 when there is none.
    public subscript(key: String) -> Double {
        parameters.first { $0.key == key }?.value ?? 0
    }
}

extension CaseName: CustomStringConvertible {
    /// The text form.
    public var description: String {
        ([name] + parameters.map { "\($0.key)=\(Numerals.short($0.value))" }).joined(separator: ",")
    }
}

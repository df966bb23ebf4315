/// The allowance of each class.
public struct GovernorDecision: Sendable, Hashable {
    private var byRank = Array(repeating: ClassAllowance(), count: QoSClass.allCases.count)

    /// Makes a decision that limits nothing.
    public init() {}

    /// The allowance of a class.
    public subscript(qosClass: QoSClass) -> ClassAllowance {
        get { byRank[qosClass.rank] }
        set { byRank[qosClass.rank] = newValue }
    }

    /// Whether no class is limited.
    public var isUnlimited: Bool { byRank.allSatisfy(\.isUnlimited) }

    /// Whether the limits are the same for all classes; the reasons may differ.
    public func hasSameLimits(as other: GovernorDecision) -> Bool {
        QoSClass.allCases.allSatisfy { self[$0].hasSameLimits(as: other[$0]) }
    }

    /// Adds limits to a class and to the classes below it.
    ///
    /// - Parameters:
    ///   - qosClass: the highest class that is limited.
    ///   - reason: the observation that leads to the limits.
    ///   - limits: sets the limits in an allowance without any.
    public mutating func restrict(
        from qosClass: QoSClass, because reason: String, _ limits: (inout ClassAllowance) -> Void
    ) {
        var allowance = ClassAllowance()
        limits(&allowance)
        allowance.reasons = [reason]
        for lower in QoSClass.allCases where lower <= qosClass { self[lower].restrict(to: allowance) }
    }

    /// Returns the decision as it is applied, whatever the policy says: values make sense, and userInteractive is never
    /// stopped or slowed down to nothing.
    ///
    /// userInteractive keeps at least one worker, its full time, and its I/O.
    public func clamped() -> GovernorDecision {
        var result = self
        for qosClass in QoSClass.allCases { result[qosClass] = self[qosClass].sanitized() }
        var highest = result[.userInteractive]
        highest.permission = min(highest.permission, .deferDiscretionary)
        highest.duty = 1
        highest.ioBytesPerSecond = nil
        highest.ioOperationsPerSecond = nil
        highest.widths = highest.widths.compactMap { width in
            switch width {
            case .unlimited: nil
            case .processors(let count): .processors(max(1, count))
            // A share above zero is rounded up to one worker.
            case .share(let share): share > 0 ? width : .processors(1)
            }
        }
        result[.userInteractive] = highest.restricted(to: ClassAllowance())
        return result
    }
}

extension GovernorDecision: CustomStringConvertible {
    /// Each class in a line of its own, with its limits and their reasons.
    public var description: String {
        QoSClass.descending.map { qosClass in
            let allowance = self[qosClass]
            let reasons = allowance.reasons.isEmpty ? "" : " (\(allowance.reasons.joined(separator: "; ")))"
            return "\(qosClass): \(allowance)\(reasons)"
        }.joined(separator: "\n")
    }
}

extension GovernorDecision: Codable {
    /// Reads an object with an allowance for each class; a class that is not there is not limited.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let table = try container.decode([String: ClassAllowance].self)
        self.init()
        for qosClass in QoSClass.allCases {
            if let allowance = table["\(qosClass)"] { self[qosClass] = allowance }
        }
    }

    /// Writes an object with an allowance for each class.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Dictionary(uniqueKeysWithValues: QoSClass.allCases.map { ("\($0)", self[$0]) }))
    }
}

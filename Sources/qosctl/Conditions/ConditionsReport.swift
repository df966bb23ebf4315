import QoSCore

/// The report of `qosctl conditions`, in the form of its JSON.
struct ConditionsReport: Encodable {
    let conditions: SystemConditions
    let decision: GovernorDecision

    init(conditions: SystemConditions, policy: some GovernorPolicy) {
        self.conditions = conditions
        decision = policy.decision(for: conditions).clamped()
    }

    /// The text form.
    var lines: [String] {
        let states =
            [
                ("thermal", Self.text(conditions.thermal)), ("power", Self.text(conditions.power)),
                ("requests", Self.text(conditions.foreground)),
            ] + PressureKind.allCases.map { ($0.rawValue, Self.text(conditions[$0])) }
        var lines = ["conditions"] + states.map { "  \(Self.pad($0.0, 16))\($0.1)" } + ["recommended"]
        for qosClass in QoSClass.descending {
            let allowance = decision[qosClass]
            lines.append("  \(Self.pad("\(qosClass)", 16))\(allowance)")
            lines += allowance.reasons.map { "  \(Self.pad("", 16))because \($0)" }
        }
        return lines
    }

    private static func text<State>(_ condition: Condition<State>) -> String {
        "\(condition.state)\(condition.isKnown ? "" : ", unknown"): \(condition.reason)"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

// | state | trip points | without a passive trip point | cooling device |
// |---|---|---|---|
// | fair | 5 °C below passive | 20 °C below critical | 1/4 in use |
// | serious | passive | 10 °C below critical | 3/4 in use |
// | critical | hot, or 5 °C below critical | the same | – |

extension ThermalReading {
    /// A state and the observation that gives it.
    package struct Judgement: Sendable, Equatable {
        package let state: ThermalState
        package let reason: String
    }

    /// The difference between the thresholds for a rise and those for a fall, in °C.
    package static var band: Double { 4 }

    /// The same for the used share of a cooling device.
    private static var coolingBand: Double { 0.1 }

    /// Judges by the hottest zone or the most used cooling device.
    ///
    /// - Parameter isFalling: whether to use the thresholds for a fall, which are lower.
    package func judgement(isFalling: Bool) -> Judgement {
        var worst = Judgement(state: .nominal, reason: calm)
        for zone in zones {
            let found = zone.judgement(lowered: isFalling ? Self.band : 0)
            if found.state > worst.state { worst = found }
        }
        for device in cooling {
            let found = device.judgement(lowered: isFalling ? Self.coolingBand : 0)
            if found.state > worst.state { worst = found }
        }
        return worst
    }

    private var calm: String {
        guard let hottest = zones.max(by: { $0.temperature < $1.temperature }) else { return "no zone" }
        return "\(hottest.name) is the hottest zone with \(hottest.degrees) °C"
    }
}

extension ThermalReading.Zone {
    fileprivate var degrees: String { Self.text(temperature) }

    private static func text(_ value: Double) -> String { "\(Int(value.rounded()))" }

    private func threshold(of state: ThermalState) -> Double? {
        switch state {
        case .nominal: nil
        case .fair: passive.map { $0 - 5 } ?? critical.map { $0 - 20 }
        case .serious: passive ?? critical.map { $0 - 10 }
        case .critical: [hot, critical.map { $0 - 5 }].compactMap { $0 }.min()
        }
    }

    fileprivate func judgement(lowered: Double) -> ThermalReading.Judgement {
        for state in [ThermalState.critical, .serious, .fair] {
            guard let threshold = threshold(of: state), temperature >= threshold - lowered else { continue }
            return ThermalReading.Judgement(
                state: state,
                reason: "\(name) has \(degrees) °C, and \(state) begins at \(Self.text(threshold)) °C")
        }
        return ThermalReading.Judgement(state: .nominal, reason: "\(name) has \(degrees) °C")
    }
}

extension ThermalReading.Cooling {
    fileprivate func judgement(lowered: Double) -> ThermalReading.Judgement {
        let reason = "the cooling device \(name) is used by \(Int((use * 100).rounded())) %"
        let state: ThermalState = use >= 0.75 - lowered ? .serious : use >= 0.25 - lowered ? .fair : .nominal
        return ThermalReading.Judgement(state: state, reason: reason)
    }
}

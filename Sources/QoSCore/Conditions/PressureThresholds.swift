/// The limits between the states of one shortage, and the times that a change has to last.
///
/// The compared number grows with the shortage. It is the percentage of time or of used room.
package struct PressureThresholds: Sendable {
    /// The lowest number of a state, and the number below which the state ends.
    package struct Limit: Sendable {
        package let rise: Double
        package let fall: Double

        package init(rise: Double, fall: Double) {
            self.rise = rise
            self.fall = min(rise, fall)
        }
    }

    package let elevated: Limit
    package let severe: Limit
    package let riseAfter: Duration
    package let fallAfter: Duration

    package init(elevated: Limit, severe: Limit, riseAfter: Duration, fallAfter: Duration) {
        self.elevated = elevated
        self.severe = severe
        self.riseAfter = riseAfter
        self.fallAfter = fallAfter
    }

    /// The limits of a kind.
    ///
    /// Processors may be saturated by the work of low classes itself, so their limits are high and take time. A stall
    /// for memory hurts at once.
    package static func standard(for kind: PressureKind) -> PressureThresholds {
        switch kind {
        case .cpu: Self(40, 20, 80, 60, riseAfter: .seconds(2), fallAfter: .seconds(5))
        case .io: Self(20, 10, 50, 35, riseAfter: .seconds(1), fallAfter: .seconds(5))
        case .memory: Self(5, 2, 20, 10, riseAfter: .zero, fallAfter: .seconds(10))
        case .steal: Self(10, 5, 30, 20, riseAfter: .seconds(2), fallAfter: .seconds(10))
        case .throttling: Self(5, 2, 25, 15, riseAfter: .seconds(2), fallAfter: .seconds(10))
        case .freeMemory: Self(90, 88, 95, 93, riseAfter: .zero, fallAfter: .seconds(10))
        case .freeDisk: Self(95, 94, 98, 97, riseAfter: .zero, fallAfter: .seconds(10))
        }
    }

    private init(
        _ elevated: Double, _ noLongerElevated: Double, _ severe: Double, _ noLongerSevere: Double,
        riseAfter: Duration, fallAfter: Duration
    ) {
        self.init(
            elevated: Limit(rise: elevated, fall: noLongerElevated),
            severe: Limit(rise: severe, fall: noLongerSevere), riseAfter: riseAfter, fallAfter: fallAfter)
    }

    /// The same limits, with states that rise at once.
    var withoutRise: PressureThresholds {
        PressureThresholds(elevated: elevated, severe: severe, riseAfter: .zero, fallAfter: fallAfter)
    }

    /// The state of a number; by the limits for a fall, a number is in a state until it is below the state's `fall`.
    package func state(of number: Double, isFalling: Bool) -> PressureState {
        if number >= (isFalling ? severe.fall : severe.rise) { return .severe }
        return number >= (isFalling ? elevated.fall : elevated.rise) ? .elevated : .nominal
    }
}

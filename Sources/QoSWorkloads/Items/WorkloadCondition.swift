public import QoSCore

/// A condition that must hold while an item runs.
///
/// A host judges it by the state of its machine, whose parts have a hysteresis and a reason (rules S1, S3, S4).
public enum WorkloadCondition: Sendable, Hashable, Codable {
    /// A shortage is below a state.
    case pressure(PressureKind, below: PressureState)
    /// The machine is no hotter than this.
    case thermal(atMost: ThermalState)
    /// The program's own requests are answered in time.
    case foregroundInTime
    /// The machine has mains power.
    case onMainsPower
    /// Low-power mode is off.
    case notInLowPowerMode
    /// The clock on the wall shows a time in this window. The host judges it by its own clock.
    case timeWindow(TimeWindow)
    /// The machine has been idle for so long; more than zero.
    ///
    /// It is idle while requests are answered in time, and the shortages of processor and disk are nominal. The host
    /// counts from its own start. Work of the item itself can end the idle time, if it causes a shortage.
    case idle(for: Duration)
    /// A condition of the program, which the host's condition source judges by its name.
    case named(String)

    /// The clock on the wall shows a time in a window; see ``TimeWindow``.
    ///
    /// - Throws: ``WorkloadScheduleError``.
    public static func timeWindow(
        from start: String, to end: String, on days: Set<Weekday> = Set(Weekday.allCases), timeZone: String = "UTC"
    ) throws(WorkloadScheduleError) -> WorkloadCondition {
        .timeWindow(try TimeWindow(from: start, to: end, on: days, timeZone: timeZone))
    }

    /// Throws if the condition can never hold.
    func validate() throws(WorkloadScheduleError) {
        if case .idle(let length) = self, length <= .zero { throw .invalidIdleTime(length) }
    }

    /// Judges the condition by the state of the machine. A condition of time or by name is not met: only a host can
    /// judge it.
    public func verdict(in conditions: SystemConditions) -> ConditionVerdict {
        switch self {
        case .pressure(let kind, let limit):
            Self.judge(conditions[kind].state < limit, "\(kind.rawValue) pressure", conditions[kind].description)
        case .thermal(let limit):
            Self.judge(conditions.thermal.state <= limit, "heat", conditions.thermal.description)
        case .foregroundInTime:
            Self.judge(
                conditions.foreground.state == .nominal, "foreground latency", conditions.foreground.description)
        case .onMainsPower:
            Self.judge(conditions.power.state.source == .mains, "no mains power", conditions.power.description)
        case .notInLowPowerMode:
            Self.judge(!conditions.power.state.isLowPowerMode, "low-power mode", conditions.power.description)
        case .timeWindow, .idle:
            .unmet("only a host judges the condition '\(self)'")
        case .named(let name):
            .unmet("no source of this host judges the condition '\(name)'")
        }
    }

    /// A short name for metrics and pages: the kind of pressure, `heat`, `requests`, `mains power`, `low-power mode`,
    /// `time`, `idle`, or the program's own name.
    public var label: String {
        switch self {
        case .pressure(let kind, _): kind.rawValue
        case .thermal: "heat"
        case .foregroundInTime: "requests"
        case .onMainsPower: "mains power"
        case .notInLowPowerMode: "low-power mode"
        case .timeWindow: "time"
        case .idle: "idle"
        case .named(let name): name
        }
    }

    private static func judge(_ holds: Bool, _ what: String, _ reason: String) -> ConditionVerdict {
        holds ? .met : .unmet("\(what) is \(reason)")
    }
}

extension WorkloadCondition: CustomStringConvertible {
    /// The condition in words: `io pressure below elevated`.
    public var description: String {
        switch self {
        case .pressure(let kind, let limit): "\(kind.rawValue) pressure below \(limit)"
        case .thermal(let limit): "heat at most \(limit)"
        case .foregroundInTime: "requests in time"
        case .onMainsPower: "mains power"
        case .notInLowPowerMode: "no low-power mode"
        case .timeWindow(let window): "\(window)"
        case .idle(let length): "idle for \(length)"
        case .named(let name): name
        }
    }
}

/// The judgement of a condition.
public enum ConditionVerdict: Sendable, Hashable {
    /// The condition holds.
    case met
    /// The condition does not hold, for this reason.
    case unmet(String)
}

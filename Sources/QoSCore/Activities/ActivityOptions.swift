/// The requests of an activity to the system, for as long as it lasts (rule S8).
public struct ActivityOptions: OptionSet, Sendable, Hashable, Codable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes options from bits; those without a meaning are kept and do nothing.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A user started the activity and waits. Work created in it gets `userInitiated`.
    public static let userInitiated = ActivityOptions(rawValue: 1 << 0)
    /// No user sees the activity. Work created in it gets `background`.
    public static let background = ActivityOptions(rawValue: 1 << 1)
    /// Each step has to be in time, as in a sound recording. Work created in the activity gets `userInteractive`.
    public static let latencyCritical = ActivityOptions(rawValue: 1 << 2)
    /// The machine should stay awake meanwhile. The runtime keeps it awake where logind allows that.
    public static let idleSleepDisabled = ActivityOptions(rawValue: 1 << 3)

    /// The level for work created in the activity (rules O1, S8): the level of its highest option.
    ///
    /// `nil` if no option has a level. Inference then continues outside the activity.
    public var level: QoSLevel? {
        if contains(.latencyCritical) { return .userInteractive }
        if contains(.userInitiated) { return .userInitiated }
        if contains(.background) { return .background }
        return nil
    }
}

extension ActivityOptions: CustomStringConvertible {
    /// The names, joined by commas: `userInitiated, idleSleepDisabled`.
    public var description: String {
        let names: [(ActivityOptions, String)] = [
            (.userInitiated, "userInitiated"), (.background, "background"), (.latencyCritical, "latencyCritical"),
            (.idleSleepDisabled, "idleSleepDisabled"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

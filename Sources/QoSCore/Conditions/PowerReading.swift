/// The power supplies of a machine, and its power profile.
package struct PowerReading: Sendable, Equatable {
    /// Whether the mains are connected; `nil` for a machine that shows no mains.
    package var isOnMains: Bool?
    /// Whether a battery gives energy.
    package var isDischarging: Bool
    /// The charge of the batteries together, 0…1; `nil` without a battery.
    package var batteryLevel: Double?
    /// The profile or preference that asks to save power: `platform profile low-power`; `nil` without one.
    package var savingProfile: String?

    package init(
        isOnMains: Bool? = nil, isDischarging: Bool = false, batteryLevel: Double? = nil, savingProfile: String? = nil
    ) {
        self.isOnMains = isOnMains
        self.isDischarging = isDischarging
        self.batteryLevel = batteryLevel
        self.savingProfile = savingProfile
    }

    /// The present source. A battery that is not discharged counts as the mains.
    package var source: PowerState.Source { isOnMains != true && isDischarging ? .battery : .mains }
}

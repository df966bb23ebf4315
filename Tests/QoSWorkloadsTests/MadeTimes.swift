@testable import QoSWorkloads

/// The time at which a clock at an offset, in hours, shows `2026-03-29 02:30`.
func time(_ text: String, offset: Int64 = 0) -> WallTime {
    let numbers = text.split { "- :".contains($0) }.compactMap { Int($0) }
    let civil = CivilTime(
        year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4])
    return WallTime(secondsSince1970: civil.secondsSince1970 - offset * 3600)
}

extension ZoneRules {
    /// Central Europe. In 2026 the clock goes forward on 29 March at 02:00, and back on 25 October at 03:00.
    static var europe: ZoneRules {
        ZoneRules(
            first: 3600,
            transitions: (PosixZoneRule("CET-1CEST,M3.5.0,M10.5.0/3")?.transitions(years: 2000...2060)) ?? [])
    }
}

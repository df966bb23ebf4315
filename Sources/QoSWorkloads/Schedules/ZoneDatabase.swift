internal import FoundationEssentials

/// The machine's time zone database.
struct ZoneDatabase {
    /// The folder of the database.
    var root = "/usr/share/zoneinfo"

    /// Reads the rules of a zone. `UTC` needs no file.
    func rules(named name: String) throws(WorkloadScheduleError) -> ZoneRules {
        if name == "UTC" { return .utc }
        let isName = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || [0x2B, 0x2D, 0x2F, 0x5F].contains($0)
        }
        guard isName, !name.isEmpty, !name.hasPrefix("/"),
            let data = FileManager.default.contents(atPath: "\(root)/\(name)"), let rules = ZoneRules(tzif: Array(data))
        else { throw .unknownTimeZone(name, database: root) }
        return rules
    }
}

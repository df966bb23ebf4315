internal import GRDB

/// The record of the last scan that came to its end, in the table `setting`.
struct ScanRecord {
    /// Its end, in nanoseconds since 1970.
    var time: Int64
    /// The number of entries that it could not read.
    var unreadable: Int

    /// Reads the record; nil before the first scan.
    static func fetch(_ database: Database) throws -> ScanRecord? {
        guard let text = try String.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'scan'") else {
            return nil
        }
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        return numbers.count == 2 ? ScanRecord(time: numbers[0], unreadable: Int(numbers[1])) : nil
    }

    /// Writes the record.
    func put(_ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO setting VALUES ('scan', ?)", arguments: ["\(time) \(unreadable)"])
    }
}

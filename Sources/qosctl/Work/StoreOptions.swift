#if SQLite
import ArgumentParser
import Foundation
import QoSSQLiteStore

/// The arguments of all commands on a store.
struct StoreOptions: ParsableArguments {
    @Option(help: "The store's file.")
    var store: String

    @Flag(help: "Print JSON instead of text.")
    var json = false

    /// Opens the store, which must exist.
    func open() throws -> SQLiteStore {
        try StandardOutput.requireOpen()
        var configuration = SQLiteStoreConfiguration()
        configuration.creates = false
        return try SQLiteStore(at: store, configuration: configuration)
    }

    /// Prints the items of a selection: as a table, or as JSON.
    func write(_ query: WorkloadQuery) async throws {
        let store = try open()
        let pauses = try await store.pauses()
        let records = try await store.records(matching: query)
        let lost = WorkReport.lostProcesses(of: records)
        let reports = records.map { WorkReport($0, pauses: pauses, lost: lost) }
        try write(reports, WorkReport.table(reports))
    }

    /// Prints a value as JSON, or its lines.
    func write(_ value: some Encodable, _ lines: [String]) throws {
        guard json else { return try StandardOutput.write(lines.joined(separator: "\n")) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Prints an item after a change.
    func write(_ id: WorkloadItemID, of store: SQLiteStore) async throws {
        guard let record = try await store.record(of: id) else { throw WorkloadStoreError.unknownItem(id) }
        let report = WorkReport(record, pauses: try await store.pauses())
        try write(report, ["\(record.displayName): \(report.state), \(report.level), \(report.reason)"])
    }
}

/// An item by its number, with or without its sign.
struct ItemArgument: ExpressibleByArgument {
    let id: WorkloadItemID

    init?(argument: String) {
        let digits = argument.hasPrefix("#") ? argument.dropFirst() : argument[...]
        guard let number = Int64(digits), number > 0 else { return nil }
        id = WorkloadItemID(rawValue: number)
    }
}

extension WallTime {
    /// The time of this machine's clock.
    static var current: WallTime { SystemWorkloadClock().now }
}
#endif

#if SQLite
import Foundation
import GRDB
import QoSFileTestSupport
import QoSSQLiteStore

/// A folder with a store in it.
struct StorePlace {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("store")
    }

    var path: String { "\(folder.path)/work.sqlite" }

    /// The settings of most tests: nothing waits for the disk.
    static var quick: SQLiteStoreConfiguration {
        var configuration = SQLiteStoreConfiguration()
        configuration.durability = .processCrash
        return configuration
    }

    /// Executes statements in a database, and returns the first column of a query after them.
    @discardableResult
    static func execute(_ sql: String, in path: String, query: String = "SELECT 1") throws -> String? {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { database in
            try database.execute(sql: sql)
            return try String.fetchOne(database, sql: query)
        }
    }

    /// Removes a file.
    static func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    func open(_ configuration: SQLiteStoreConfiguration = quick) throws -> SQLiteStore {
        try SQLiteStore(at: path, configuration: configuration)
    }
}
#endif

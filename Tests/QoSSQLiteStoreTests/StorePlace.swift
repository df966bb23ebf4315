#if SQLite
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

    func open(_ configuration: SQLiteStoreConfiguration = quick) throws -> SQLiteStore {
        try SQLiteStore(at: path, configuration: configuration)
    }
}
#endif

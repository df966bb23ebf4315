internal import Indexing
internal import QoSSQLiteStore

/// Makes the store of the service's workloads.
enum WorkloadStoreFactory {
    /// Opens the store in the index's folder, or makes an empty one there.
    ///
    /// A damaged store is moved aside, because the service submits its items at each start. A notice tells of it, as
    /// the pauses are lost.
    ///
    /// - Parameter tell: Receives a notice for people.
    /// - Throws: `SQLiteStoreError`; for example if a newer service has written the store, or the disk is full.
    static func store(in directory: String, tell: @escaping @Sendable (String) -> Void) throws -> SQLiteStore {
        let path = directory + "/work.sqlite"
        var configuration = SQLiteStoreConfiguration()
        configuration.checksContent = true
        configuration.fileRestored = {
            tell("The store of the workloads, \(path), was removed. It was written again, with its items and pauses.")
        }
        let detail: String
        do {
            return try SQLiteStore(at: path, configuration: configuration)
        } catch SQLiteStoreError.damaged(_, let reason) {
            detail = reason
        } catch SQLiteStoreError.notADatabase {
            detail = "it is not a database"
        }
        let aside = try DatabaseFiles(path).moveAside(label: "corrupt", time: IndexSettings.systemTime())
        tell(
            "The store of the workloads was damaged (\(detail)). It was moved to \(aside) and is made anew. "
                + "Workloads that were paused are not paused any more.")
        return try SQLiteStore(at: path, configuration: configuration)
    }
}

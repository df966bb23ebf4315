internal import QoSSQLiteStore

/// What people should know and do about a store of workloads that fails while the service runs.
///
/// The texts name no file of this machine, so any client may see them. The service's log has the details.
enum StoreTrouble {
    /// Whether an error says that the store is not as it was written.
    static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case SQLiteStoreError.damaged, SQLiteStoreError.notADatabase, SQLiteStoreError.foreign: true
        default: false
        }
    }

    /// Returns the text for an error of the store.
    static func text(_ error: any Error) -> String {
        let what =
            switch error {
            case _ where isDamage(error):
                "is damaged. Indexing stops at its next step. "
                    + "Stop the service and start it again: it then moves the damaged file aside and makes a new one"
            case SQLiteStoreError.newer:
                "was written by a newer service. Stop this service and start the newer one"
            case SQLiteStoreError.diskFull:
                "cannot be written: the disk is full. Make room: the service goes on by itself"
            case SQLiteStoreError.locked:
                "is locked by another program. The service goes on by itself when that program ends"
            case SQLiteStoreError.readOnly, SQLiteStoreError.cannotOpen, SQLiteStoreError.missing:
                "cannot be opened. Give the service's user the right to write the index's folder, and restart the service"
            default:
                "cannot be used. The service tries again by itself, and its log says why"
            }
        return "The store of the workloads \(what). Searches go on."
    }
}

/// A temporary obstacle to a pass.
public enum PauseReason: Sendable, Hashable, CustomStringConvertible {
    /// The disk, or the limit set for the database, is full.
    case diskFull
    /// Another program holds a lock on the database.
    case databaseBusy
    /// The database cannot be written or read; with the database's message.
    case databaseUnavailable(String)
    /// The process or the machine has run out of a resource; with the system's message.
    case exhausted(String)

    /// Another task brings one folder up to date first.
    case refreshing

    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .diskFull:
            "The disk of the index, or the limit set for it, is full. Make room; the pass goes on by itself."
        case .databaseBusy:
            "Another program holds the index database. Let it finish; the pass goes on by itself."
        case .databaseUnavailable(let detail):
            "The index database cannot be used: \(detail). Repair the cause; the pass goes on by itself."
        case .refreshing:
            "A folder that a search waits for comes first. The pass goes on by itself."
        case .exhausted(let detail):
            "The system is short of resources: \(detail). Raise the limit or close files; the pass goes on by itself."
        }
    }
}

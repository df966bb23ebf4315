#if SQLite
/// The settings of a store in SQLite.
public struct SQLiteStoreConfiguration: Sendable {
    /// What an acknowledged call survives.
    public enum Durability: Sendable, Hashable, CaseIterable {
        /// A loss of power: each call waits until the disk has it. Concurrent calls share one wait.
        case powerLoss
        /// A crash of the process. A loss of power may take back the last calls. Nothing is damaged.
        case processCrash
    }

    /// What an acknowledged call survives.
    public var durability = Durability.powerLoss
    /// Whether to make the file if there is none.
    public var creates = true
    /// The time for which a call waits while another process writes.
    public var lockLimit: Duration = .seconds(10)
    /// Whether to read the whole file at the opening, and to refuse one that is damaged. It takes about a second for each
    /// gigabyte.
    public var checksContent = false
    /// Called after a file or its log, which was removed while the store was open, has been written again, on the thread
    /// of a call.
    public var fileRestored: (@Sendable () -> Void)?
    /// Called when the log beside the file, `-wal`, has grown beyond 64 MiB, and at each doubling: with its size in bytes,
    /// on the thread of a call. A transaction that reads for long keeps the log from being emptied: find it, and end it.
    public var logGrown: (@Sendable (_ bytes: Int64) -> Void)?
    /// The answer to a lock on a file beside the store instead of the system's, for tests: 0, or an error.
    var lockProbe: (@Sendable () -> Int32)?
    /// The number of items that one transaction moves because they became due, or because their parent ended. The next
    /// call goes on.
    package var stepLimit = 500
    /// The time between two looks for changes of other processes that came without a hint.
    var lookInterval: Duration = .seconds(60)
    /// Makes what the thread that waits for hints reads from, or fails as inotify_init1(2) does.
    var makeWatch: (@Sendable () -> Int32)?
    /// Other steps of the tables' versions, for tests of a migration.
    var schemaSteps: [String]?
    /// Notes that a point of the protocol was reached, for tests that end the process there.
    package var reached: (@Sendable (FailPoint) -> Void)?

    /// Makes the default settings.
    public init() {}

    /// A point at which a process may end.
    package struct FailPoint: Sendable, Hashable {
        /// A moment of a transaction.
        package enum Moment: String, Sendable, CaseIterable {
            /// The transaction has begun.
            case begun
            /// All is written, nothing committed.
            case written
            /// All is committed; nothing is acknowledged, and no one is told.
            case committed
            /// All is told and acknowledged.
            case acknowledged
        }

        /// The moment.
        package var moment: Moment
        /// The names of the calls in the transaction, for example `insert`; `create` for the making of the file.
        package var calls: [String]
    }
}
#endif

internal import Indexing
internal import Logging

/// The settings of the service.
struct ServiceSettings: Sendable, Equatable {
    /// The address of the service.
    enum Address: Sendable, Equatable {
        /// A host's name or address, and a port, 0 for any free one.
        case network(host: String, port: Int)
        /// A Unix socket. Only this user may connect to it.
        case socket(path: String)
    }

    /// The clients that are answered.
    enum Access: String, Sendable, CaseIterable {
        /// Clients that have the token.
        case token
        /// All clients that can connect.
        case open
    }

    /// The folder to index, absolute and without links.
    var folder: String
    /// The folder of the index.
    var directory: String
    var address = Address.network(host: "127.0.0.1", port: 8080)
    var access = Access.token
    /// The file with the token; nil for one beside the index, which the service makes.
    var tokenFile: String?
    /// Further names, beside `localhost`, that the Host header may have.
    var allowedHosts: [String] = []
    /// Whether a new index also finds parts of words.
    var substrings = false
    /// The languages whose word forms a new index finds together.
    var stemming: [StemLanguage] = []
    /// The time between two passes.
    var rescanInterval = Duration.seconds(60)
    /// The time after which a search is given up.
    var searchTime = Duration.seconds(2)
    /// The maximum number of open connections.
    var connections = 256
    /// The time after which a connection without a whole request is closed.
    var idleTime = Duration.seconds(30)
    /// The time that a request may take, from its head to the last byte of its answer.
    var requestTime = Duration.seconds(30)
    /// The limits of the indexing by the state of the machine.
    var governor = GovernorSettings()
    /// The backups; nil for none.
    var backup: BackupSettings?
    /// The sync; nil for none.
    var sync: SyncSettings?
    /// The least important level that is logged.
    var logLevel = Logger.Level.error
    /// Whether progress is not shown.
    var isQuiet = false

    /// The file with the token.
    var tokenPath: String { tokenFile ?? directory + "/token" }
}

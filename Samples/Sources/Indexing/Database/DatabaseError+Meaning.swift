internal import GRDB

extension DatabaseError {
    /// Whether the database file is damaged, or is not a database.
    var isDamage: Bool {
        resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB
    }

    /// The reason for a pause, if waiting may help; otherwise nil.
    var pauseReason: PauseReason? {
        switch resultCode {
        case .SQLITE_FULL: .diskFull
        case .SQLITE_BUSY, .SQLITE_LOCKED: .databaseBusy
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM: .databaseUnavailable(summary)
        case .SQLITE_NOMEM: .exhausted(summary)
        default: nil
        }
    }

    /// The database's text and the extended result code.
    var summary: String {
        "\(message ?? "no message") (SQLite \(extendedResultCode.rawValue))"
    }
}

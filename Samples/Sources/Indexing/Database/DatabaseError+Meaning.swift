internal import GRDB

extension DatabaseError {
    /// Whether the database file is damaged, or is no database.
    var isDamage: Bool {
        resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB
    }

    /// What a pass makes of the error when waiting may help, or nil.
    var pauseReason: PauseReason? {
        switch resultCode {
        case .SQLITE_FULL: .diskFull
        case .SQLITE_BUSY, .SQLITE_LOCKED: .databaseBusy
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM: .databaseUnavailable(summary)
        case .SQLITE_NOMEM: .exhausted(summary)
        default: nil
        }
    }

    /// The database's words and the extended result code.
    var summary: String {
        "\(message ?? "no message") (SQLite \(extendedResultCode.rawValue))"
    }
}

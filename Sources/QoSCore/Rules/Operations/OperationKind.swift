/// The kind of an operation's work. It gives a level to an operation without an assigned one (rule O12).
public enum OperationKind: Sendable, Hashable, CaseIterable {
    /// Local work. Its level is inferred (rule O1).
    case plain
    /// Work that waits for other machines: utility, and discretionary while the process is not in foreground use.
    case network
    /// A fetch from a remote container or database for a waiting user: userInitiated.
    case remoteDatabase

    /// The level of an operation of this kind; `nil` if it is inferred.
    public var level: QoSLevel? {
        switch self {
        case .plain: nil
        case .network: .utility
        case .remoteDatabase: .userInitiated
        }
    }

    /// Whether the system may put the operation off to a better moment.
    ///
    /// - Parameter isInForegroundUse: whether a user uses the process right now.
    public func isDiscretionary(isInForegroundUse: Bool) -> Bool {
        self == .network && !isInForegroundUse
    }
}

/// What an operation works with, which gives it a level when nobody assigned one (rule O12).
public enum OperationKind: UInt8, Sendable, Hashable, CaseIterable {
    /// Its level is inferred (rule O1).
    case plain
    /// Waits for other machines: utility, and discretionary while the process is not in foreground use.
    case network
    /// Fetches from a remote container or database for somebody who waits: userInitiated.
    case remoteDatabase

    /// The level of an operation of this kind; `nil` where it is inferred.
    public var level: QoSLevel? {
        switch self {
        case .plain: nil
        case .network: .utility
        case .remoteDatabase: .userInitiated
        }
    }

    /// Whether the system may put the operation off to a better moment.
    ///
    /// - Parameter isInForegroundUse: whether somebody uses the process right now.
    public func isDiscretionary(isInForegroundUse: Bool) -> Bool {
        self == .network && !isInForegroundUse
    }
}

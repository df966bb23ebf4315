/// The classes at which the jobs of B1 run.
public enum Foreground: String, Sendable, Hashable, CaseIterable {
    /// All jobs at userInteractive.
    case userInteractive = "foreground"
    /// All jobs at userInitiated, the class at which services run.
    case userInitiated = "foreground-initiated"
    /// The jobs take turns between userInteractive and userInitiated.
    case both = "foreground-both"

    /// The name in the results.
    public var title: String {
        switch self {
        case .userInteractive: "userInteractive"
        case .userInitiated: "userInitiated"
        case .both: "both"
        }
    }
}

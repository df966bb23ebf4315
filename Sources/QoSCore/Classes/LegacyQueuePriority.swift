/// The priorities of the global queues before quality of service existed (rule C5).
///
/// They serve configuration files and code that still use these names.
public enum LegacyQueuePriority: String, Sendable, Hashable, CaseIterable, Codable {
    /// The main queue.
    case main
    /// The high global queue.
    case high
    /// The default global queue.
    case `default`
    /// The low global queue.
    case low
    /// The background global queue.
    case background

    /// The class of the priority (rule C5).
    public var qosClass: QoSClass {
        switch self {
        case .main: .userInteractive
        case .high: .userInitiated
        case .default: .default
        case .low: .utility
        case .background: .background
        }
    }

    /// Makes the priority of a class (rule C5).
    public init(_ qosClass: QoSClass) {
        switch qosClass {
        case .userInteractive: self = .main
        case .userInitiated: self = .high
        case .default: self = .default
        case .utility: self = .low
        case .background: self = .background
        }
    }
}

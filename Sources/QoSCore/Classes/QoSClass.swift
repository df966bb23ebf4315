/// A quality-of-service class: the urgency of work.
///
/// The five classes are totally ordered (rule C1). "Unspecified" is not a class but the absence of information: `nil`.
/// Inference resolves it before any comparison or scheduling.
///
/// | class | intent (rule C3) | expected duration |
/// |---|---|---|
/// | `userInteractive` | a user watches each step | virtually instantaneous |
/// | `userInitiated` | a user waits for the answer | seconds or less |
/// | `default` | no information; not for classifying work (rule C2) | |
/// | `utility` | progress is visible, no user waits | seconds to minutes |
/// | `background` | not visible | minutes to hours |
public enum QoSClass: UInt8, Sendable, Hashable, CaseIterable {
    /// Maintenance that no user sees: indexing, backup, sync.
    case background = 9
    /// Long work whose progress is shown.
    case utility = 17
    /// The class of work without any information (rule C2).
    case `default` = 21
    /// A user waits for the result.
    case userInitiated = 25
    /// A user watches: the event loop, the frame, the key press.
    case userInteractive = 33

    /// The classes from the highest to the lowest.
    ///
    /// - Complexity: O(1).
    public static let descending: [QoSClass] = [.userInteractive, .userInitiated, .default, .utility, .background]

    /// The position in the order, 0 (`background`) to 4 (`userInteractive`). It serves as an index for tables by class.
    @inlinable
    package var rank: Int {
        switch self {
        case .background: 0
        case .utility: 1
        case .default: 2
        case .userInitiated: 3
        case .userInteractive: 4
        }
    }

    /// Makes the class at a position of the order; the inverse of ``rank``.
    ///
    /// - Parameter rank: 0…4; anything else gives `nil`.
    package init?(rank: Int) {
        switch rank {
        case 0: self = .background
        case 1: self = .utility
        case 2: self = .default
        case 3: self = .userInitiated
        case 4: self = .userInteractive
        default: return nil
        }
    }

    /// A two-letter name for thread names (`qos-bg-1`), tables and badges.
    package var abbreviation: String {
        switch self {
        case .userInteractive: "ui"
        case .userInitiated: "in"
        case .default: "df"
        case .utility: "ut"
        case .background: "bg"
        }
    }
}

extension QoSClass: Comparable {
    /// Orders by urgency (rule C1).
    @inlinable
    public static func < (left: QoSClass, right: QoSClass) -> Bool {
        left.rawValue < right.rawValue
    }
}

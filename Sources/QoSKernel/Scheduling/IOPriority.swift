/// A thread's I/O priority (ioprio_set(2)): counts for reads and direct writes under mq-deadline and bfq; buffered
/// writes are flushed by kernel threads and escape it.
package enum IOPriority: Sendable, Hashable {
    /// Before everything else; level 0 (highest) to 7. Needs CAP_SYS_NICE or CAP_SYS_ADMIN.
    case realtime(level: Int)
    /// The normal class; level 0 (highest) to 7.
    case bestEffort(level: Int)
    /// The disk serves the thread only when it has no other requests.
    case idle
    /// Unset: the kernel derives best effort from nice, level (nice + 20) / 5. Older kernels read it as that.
    case none
}

extension IOPriority {
    private static let levels = 0...7

    /// The value of ioprio_set(2): class << 13 | level; `nil` for a level that does not exist.
    var rawValue: Int32? {
        switch self {
        case .realtime(let level): Self.levels ~= level ? 1 << 13 | Int32(level) : nil
        case .bestEffort(let level): Self.levels ~= level ? 2 << 13 | Int32(level) : nil
        case .idle: 3 << 13
        case .none: 0
        }
    }

    /// The priority of a value of ioprio_get(2). Bits beside class and level (hints) are not looked at.
    init(rawValue: Int32) {
        let level = Int(rawValue & 7)
        self =
            switch rawValue >> 13 & 7 {
            case 1: .realtime(level: level)
            case 2: .bestEffort(level: level)
            case 3: .idle
            default: .none
            }
    }
}

extension IOPriority: CustomStringConvertible {
    /// `RT 0`, `BE 4`, `IDLE`, `none`.
    package var description: String {
        switch self {
        case .realtime(let level): "RT \(level)"
        case .bestEffort(let level): "BE \(level)"
        case .idle: "IDLE"
        case .none: "none"
        }
    }
}

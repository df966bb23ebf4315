/// An attempt that has failed, or whose lease was lost. A store keeps the last ones of each item.
public struct WorkloadAttempt: Sendable, Hashable, Codable {
    /// The number of its lease.
    public let fence: UInt64
    /// The number of the attempt within its run, from 1.
    public let number: Int
    /// The name of its host.
    public let host: String
    /// The time at which it began.
    public let began: WallTime
    /// The time at which it ended, or at which its loss was noted.
    public let ended: WallTime
    /// The error, at most about a thousand bytes of it.
    public let error: String

    /// The number of attempts that a store keeps of an item.
    package static let kept = 20
    /// The longest error, in bytes.
    static let errorLimit = 1024

    /// Makes an entry of a history.
    public init(fence: UInt64, number: Int, host: String, began: WallTime, ended: WallTime, error: String) {
        self.fence = fence
        self.number = number
        self.host = host
        self.began = began
        self.ended = ended
        self.error = error
    }
}

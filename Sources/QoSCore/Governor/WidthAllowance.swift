/// The number of workers of a class that may be at work at a time.
public enum WidthAllowance: Sendable, Hashable, Codable {
    /// No limit.
    case unlimited
    /// A number of processors; 0 pauses the class.
    case processors(Int)
    /// A share of the processors of the scheduler, 0…1, rounded up; 0 pauses the class.
    case share(Double)

    /// Returns the limit on a number of processors; `nil` for no limit.
    public func workers(onProcessors processors: Int) -> Int? {
        switch self {
        case .unlimited: nil
        case .processors(let count): max(0, count)
        case .share(let share):
            share.isNaN || share >= 1 ? nil : Int((max(0, share) * Double(max(1, processors))).rounded(.up))
        }
    }
}

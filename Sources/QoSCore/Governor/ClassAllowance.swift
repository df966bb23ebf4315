/// The part of the machine that a class may use (rule S2).
public struct ClassAllowance: Sendable, Hashable, Codable {
    /// The work that may run.
    public var permission = WorkPermission.run

    /// The limits of the workers at work at a time. The lowest one counts; an empty list is no limit.
    public var widths: [WidthAllowance] = []

    /// The share of the time in which the class takes jobs, 0…1.
    public var duty = 1.0

    /// The bytes per second of file I/O; `nil` for no limit.
    public var ioBytesPerSecond: Int?

    /// The operations per second of file I/O; `nil` for no limit.
    public var ioOperationsPerSecond: Int?

    /// The observations that led to the limits, for people.
    public var reasons: [String] = []

    /// Makes an allowance without a limit.
    public init() {}

    /// Whether nothing is limited.
    public var isUnlimited: Bool {
        permission == .run && duty >= 1 && ioBytesPerSecond == nil && ioOperationsPerSecond == nil
            && widths.allSatisfy { $0 == .unlimited }
    }

    /// Whether the limits are the same; the reasons may differ.
    public func hasSameLimits(as other: ClassAllowance) -> Bool {
        var (left, right) = (self, other)
        (left.reasons, right.reasons) = ([], [])
        return left == right
    }

    /// Returns the limit of workers on a number of processors; `nil` for no limit. A stopped class has 0.
    public func workers(onProcessors processors: Int) -> Int? {
        if permission == .stop { return 0 }
        return widths.compactMap { $0.workers(onProcessors: processors) }.min()
    }
}

extension ClassAllowance {
    /// Adds another allowance's limits: of each kind the tighter one counts.
    public mutating func restrict(to other: ClassAllowance) {
        permission = max(permission, other.permission)
        for width in other.widths where width != .unlimited && !widths.contains(width) { widths.append(width) }
        widths = Self.relevant(widths)
        duty = min(duty, other.duty)
        ioBytesPerSecond = Self.lower(ioBytesPerSecond, other.ioBytesPerSecond)
        ioOperationsPerSecond = Self.lower(ioOperationsPerSecond, other.ioOperationsPerSecond)
        for reason in other.reasons where !reasons.contains(reason) { reasons.append(reason) }
    }

    /// Returns the allowance with both allowances' limits.
    public func restricted(to other: ClassAllowance) -> ClassAllowance {
        var result = self
        result.restrict(to: other)
        return result
    }

    /// Keeps the lowest number of processors and the lowest share, in this order. Which of both is lower depends on the
    /// machine.
    private static func relevant(_ widths: [WidthAllowance]) -> [WidthAllowance] {
        var (processors, share): (Int?, Double?) = (nil, nil)
        for width in widths {
            switch width {
            case .unlimited: continue
            case .processors(let count): processors = min(processors ?? .max, max(0, count))
            case .share(let part): if !part.isNaN, part < 1 { share = min(share ?? 1, max(0, part)) }
            }
        }
        return [processors.map(WidthAllowance.processors), share.map(WidthAllowance.share)].compactMap { $0 }
    }

    private static func lower(_ left: Int?, _ right: Int?) -> Int? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    /// Returns the allowance without values that make no sense: what is not a number or too large is no limit, what is
    /// below zero is zero.
    func sanitized() -> ClassAllowance {
        var result = self
        result.widths = Self.relevant(widths)
        result.duty = duty.isNaN ? 1 : min(1, max(0, duty))
        result.ioBytesPerSecond = ioBytesPerSecond.map { max(0, $0) }
        result.ioOperationsPerSecond = ioOperationsPerSecond.map { max(0, $0) }
        return result
    }
}

extension ClassAllowance: CustomStringConvertible {
    /// The limits in words: `deferDiscretionary, at most 1 processor, duty 25 %`.
    public var description: String {
        var parts: [String] = permission == .run ? [] : [permission.rawValue]
        for width in widths {
            switch width {
            case .unlimited: continue
            case .processors(let count): parts.append("at most \(count) processor\(count == 1 ? "" : "s")")
            case .share(let share): parts.append("\(Int((share * 100).rounded())) % of the processors")
            }
        }
        if duty < 1 { parts.append("duty \(Int((duty * 100).rounded())) %") }
        if let ioBytesPerSecond { parts.append("\(ioBytesPerSecond) bytes/s") }
        if let ioOperationsPerSecond { parts.append("\(ioOperationsPerSecond) operations/s") }
        return parts.isEmpty ? "no limit" : parts.joined(separator: ", ")
    }
}

/// The timeline of B18, for the program that measures and the one that draws. Seconds.
public struct PressureTimes: Sendable, Hashable {
    /// The number of spans that a run is divided into.
    public static let spanCount = 18

    /// The length of a run.
    public let length: Double

    /// Makes the timeline of a run.
    public init(length: Double) {
        self.length = length
    }

    /// The length of one span.
    public var span: Double { length / Double(Self.spanCount) }

    /// When other processes take the processors: the middle third.
    public var load: ClosedRange<Double> { (length / 3)...(2 * length / 3) }

    /// The key of a span's figure.
    public static func key(_ name: String, span: Int) -> String { "\(name)@\(span)" }
}

public import QoSCore
import QoSKernel
import Synchronization

/// A piece of the program's activity that is going on: what it asks of the system, and why (rule S8).
///
/// Begun by `QoS.performActivity(_:reason:_:)`; it lasts as long as the body.
public struct Activity: Sendable, Identifiable {
    /// A number that no other activity of the process has; never 0.
    public let id: UInt64

    /// What it asks.
    public let options: ActivityOptions

    /// Why it is done, for diagnostics.
    public let reason: String

    /// The activity in which it was begun.
    public let parentID: UInt64?

    /// When it was begun.
    public let start: ContinuousClock.Instant

    /// The class of the task that began it, to tell when that is raised.
    let begunAt: QoSClass?

    /// The level that it gives, its own or that of the nearest outer one that has one, with the class at whose begin that was.
    let inherited: LevelScope.Given?

    /// The level that it gives to what is created in it (rule O1); `nil` if neither it nor an outer one says any.
    public var level: QoSLevel? { inherited?.level }

    private static let lastID = Atomic<UInt64>(0)
    private static let running = Lock<[UInt64: Activity]>([:])

    init(options: ActivityOptions, reason: String) {
        let outer = LevelScope.current
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        self.options = options
        self.reason = reason
        parentID = outer?.activity?.id
        start = .now
        begunAt = LevelScope.recordedClass
        inherited = options.level.map { [begunAt] in ($0, begunAt) } ?? outer?.given
    }

    /// The activities that go on at this moment, in the order in which they were begun. Any thread.
    static var all: [Activity] {
        running.withLock { Array($0.values) }.sorted { $0.id < $1.id }
    }

    func begin() {
        Self.running.withLock { $0[id] = self }
    }

    func end() {
        _ = Self.running.withLock { $0.removeValue(forKey: id) }
    }
}

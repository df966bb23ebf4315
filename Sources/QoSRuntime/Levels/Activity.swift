public import QoSCore
import QoSKernel
import Synchronization

/// An activity of the program that has begun and not ended: its demands on the system, and its reason (rule S8).
///
/// `QoS.performActivity(_:reason:_:)` begins the activity, which lasts as long as the body.
public struct Activity: Sendable, Identifiable {
    /// A number that no other activity of the process has; never 0.
    public let id: UInt64

    /// The demands of the activity.
    public let options: ActivityOptions

    /// The reason for the activity, for diagnostics.
    public let reason: String

    /// The activity in which this one was begun.
    public let parentID: UInt64?

    /// The time at which the activity was begun.
    public let start: ContinuousClock.Instant

    /// The class of the task that began the activity. It shows whether the task was raised since.
    let begunAt: QoSClass?

    /// The level that the activity gives, with the class of the task that began the level's scope. The level is its
    /// own, or that of the nearest outer scope that has one.
    let inherited: LevelScope.Given?

    /// The level that the activity gives to work created in it (rule O1); `nil` if neither the activity nor an outer
    /// scope names one.
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

    /// The activities that have not ended, in the order in which they were begun. Any thread.
    static var all: [Activity] {
        running.withLock { Array($0.values) }.sorted { $0.id < $1.id }
    }

    func begin() {
        Self.running.withLock { $0[id] = self }
        guard options.contains(.idleSleepDisabled) else { return }
        let group = Worker.current?.group
        IdleInhibitor.shared.begin(reason) { group?.observe(.idleSleepNotInhibited($0)) }
    }

    func end() {
        if options.contains(.idleSleepDisabled) { IdleInhibitor.shared.end() }
        _ = Self.running.withLock { $0.removeValue(forKey: id) }
    }
}

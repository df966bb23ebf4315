public import QoSCore
import QoSKernel
import Synchronization

/// A named stretch of the program's work that has begun and not ended, with its demands on the system (rules X3, S8).
///
/// `QoS.withActivity(_:_:)` and `QoS.performActivity(_:reason:_:)` begin an activity, which lasts as long as the body.
/// `qosctl activities` lists the activities of a running process.
public struct Activity: Sendable, Identifiable {
    /// An activity of another process (rule X1).
    public struct Originator: Sendable, Hashable {
        /// The number of the process, as this process knows it.
        public let process: Int32

        /// The number of the activity there.
        public let activity: UInt64

        package init(process: Int32, activity: UInt64) { (self.process, self.activity) = (process, activity) }
    }

    /// A number that no other activity of the process has; never 0.
    public let id: UInt64

    /// The demands of the activity.
    public let options: ActivityOptions

    /// The name of the activity, or the reason for it.
    public let reason: String

    /// The activity in which this one was begun.
    public let parentID: UInt64?

    /// The activity of another process whose message this one, or the outermost activity around it, handles; `nil` for
    /// an activity that began in this process.
    public let originator: Originator?

    /// The time at which the activity was begun.
    public let start: ContinuousClock.Instant

    /// The class of the task that began the activity. It shows whether the task was raised since.
    let begunAt: QoSClass?

    /// The level that the activity gives, with the class of the task that began the level's scope. The level is its
    /// own, or that of the nearest outer scope that has one.
    let inherited: LevelScope.Given?

    /// The level that the activity gives to work created in it (rule O1): its importance. It is `nil` if neither the
    /// activity nor an outer scope names one.
    public var level: QoSLevel? { inherited?.level }

    private static let lastID = Atomic<UInt64>(0)
    private static let running = Lock<[UInt64: Activity]>([:])

    /// The activities that have not ended, in the order in which they were begun. Any thread.
    static var all: [Activity] {
        running.withLock { Array($0.values) }.sorted { $0.id < $1.id }
    }

    fileprivate init(
        options: ActivityOptions, reason: String, within outer: LevelScope?, originator: Originator? = nil
    ) {
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        self.options = options
        self.reason = reason
        parentID = outer?.activity?.id
        self.originator = originator ?? outer?.activity?.originator
        start = .now
        begunAt = LevelScope.recordedClass
        inherited = options.level.map { [begunAt] in ($0, begunAt) } ?? outer?.given
    }

    /// - Returns: its place in the memory that the process shows; `nil` without one.
    fileprivate func begin() -> Int? {
        Self.running.withLock { $0[id] = self }
        if options.contains(.idleSleepDisabled) {
            let group = Worker.current?.group
            IdleInhibitor.shared.begin(reason) { group?.observe(.idleSleepNotInhibited($0)) }
        }
        return DiagnosticsMapping.process?.begin(
            ShownActivity(
                id: id, name: reason, parent: parentID, begin: MonotonicClock.nanoseconds(), level: level?.qosClass,
                originator: originator.map { .init(process: $0.process, activity: $0.activity) },
                work: PoolGroup.workOfCaller))
    }

    fileprivate func end(at place: Int?) {
        if let place { DiagnosticsMapping.process?.endActivity(at: place) }
        if options.contains(.idleSleepDisabled) { IdleInhibitor.shared.end() }
        _ = Self.running.withLock { $0.removeValue(forKey: id) }
    }
}

/// An activity from its beginning to its end. Everything that begins one does it here: scopes of the program, and
/// handlers of messages.
///
/// Threading: any thread; ``end()`` once.
package struct RunningActivity: Sendable {
    package let activity: Activity
    private let place: Int?

    /// Begins an activity within that of the calling code.
    init(_ options: ActivityOptions, reason: String) {
        activity = Activity(options: options, reason: reason, within: LevelScope.current)
        place = activity.begin()
    }

    /// Begins an activity that continues one of another process. It gives no level: the message has one.
    package init(continuing originator: Activity.Originator, reason: String) {
        activity = Activity(options: [], reason: reason, within: nil, originator: originator)
        place = activity.begin()
    }

    package func end() { activity.end(at: place) }
}

/// Admission's data of one class.
package struct ClassAdmission: Sendable {
    /// The number of admitted workers: in a job, between two jobs, or on their way to the first one. Blocked and parked
    /// ones are not counted.
    package var running = 0

    /// Whether one more worker was asked for and could not be admitted yet.
    package var isWaiting = false

    /// The number of workers that the class has on the cores of the process.
    package var ownWidth = 1

    /// The governor's limit of ``running``; 0 pauses the class, `Int.max` is none.
    package var widthLimit = Int.max

    /// The limit of ``running`` by fences; `Int.max` is none.
    package var fenceLimit = Int.max

    /// Whether the budget of processor time holds the class back (rule A7).
    package var isHeld = false

    /// The time that the class has waited behind each higher class, by the higher one's rank (rule A4).
    package var behind = InlineArray<5, Behind>(repeating: Behind())

    /// The time in which the class had work and a core was left to it, since its clocks were last reset. Nanoseconds.
    package var served: Int64 = 0

    /// The higher classes that stand aside for this one, by one core together, until it was served for its quantum.
    /// They are the starvation window of the class.
    package var claims = QoSClassSet()

    /// The number of such windows so far.
    package var windows: UInt64 = 0

    /// The standing of the class since the last event.
    package var standing = Standing.idle

    /// The time since which the workers of this class and the higher ones cover every core.
    package var coveringSince: SchedulerInstant?

    /// The time since which more workers of this class and the higher ones are admitted than there are cores.
    package var crowdedSince: SchedulerInstant?

    /// The number of workers that may be admitted: the least of the own width, the governor's limit and the fences'; 0
    /// while the budget holds the class.
    package var limit: Int { isHeld ? 0 : limitOfOthers }

    /// The same, but for the budget.
    var limitOfOthers: Int { min(ownWidth, widthLimit, fenceLimit) }

    /// Whether the class has work: queued for a worker, or taken by one.
    package var hasWork: Bool { running > 0 || isWaiting }

    /// The wait of a class behind one higher class, while it was ``Standing/covered``. Nanoseconds.
    package struct Behind: Sendable, Hashable {
        /// The time in which the higher class and those above it covered every core by themselves.
        package var covered: Int64 = 0

        /// The time in which they left a core since then, without standing aside.
        package var left: Int64 = 0
    }

    /// The standing of a class with respect to the cores.
    package enum Standing: Sendable, Hashable {
        /// The class has no work, or may not run at all (paused, fenced). No clock runs.
        case idle
        /// The class has a worker, and a core is left to it.
        case served
        /// Workers of higher classes cover every core, its own workers stand aside for a lower class, or the budget
        /// holds it.
        case covered
    }
}

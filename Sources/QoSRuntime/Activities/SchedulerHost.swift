import QoSCore
import QoSKernel

/// A scheduler and a monitor as the surroundings of background activities.
final class SchedulerHost: ActivityHost {
    private let scheduler: QoSScheduler
    private let monitor: SystemMonitor?

    init(_ scheduler: QoSScheduler, _ monitor: SystemMonitor?) {
        self.scheduler = scheduler
        self.monitor = monitor
    }

    var clocks: ClockReading { .current }

    var surroundings: (conditions: SystemConditions, decision: GovernorDecision) {
        (monitor?.conditions ?? SystemConditions(), scheduler.decision)
    }

    func wake(afterNanoseconds nanoseconds: UInt64, tolerance: UInt64, _ body: @escaping @Sendable () -> Void) {
        let deadline = MonotonicClock.nanoseconds().addingSaturating(nanoseconds)
        scheduler.core.addTimer(
            TimerWindow(deadline: deadline, tolerance: tolerance, isPrompt: false, for: .background), .body(body),
            isContinuous: true)
    }

    func startTask(
        at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        scheduler.startDetachedTask(at: qosClass, name: name, operation: body)
    }

    func report(_ event: BackgroundActivityEvent) {
        scheduler.core.group.observe(.backgroundActivity(event))
    }

    func watch(
        changed: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) -> any ActivityWatch {
        // The low classes may be stopped when the change comes.
        let decisions = scheduler.core.governed.values()
        let conditions = monitor?.conditionChanges
        return Watch(tasks: [
            scheduler.startDetachedTask(at: .userInitiated, name: "activities: decisions") {
                for await _ in decisions { changed() }
                if !Task.isCancelled { ended() }
            },
            scheduler.startDetachedTask(at: .userInitiated, name: "activities: conditions") {
                guard let conditions else { return }
                for await _ in conditions { changed() }
            },
        ])
    }

    private final class Watch: ActivityWatch {
        private let tasks: [Task<Void, Never>]

        init(tasks: [Task<Void, Never>]) {
            self.tasks = tasks
        }

        func cancel() {
            for task in tasks { task.cancel() }
        }
    }
}

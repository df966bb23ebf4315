import QoSCore

/// A closure that was submitted as a part of a group. The group knows it until its end.
// SAFETY: as the base class; `member` is touched under the group's lock only, the additional fields are sendable and
// never change.
final class GroupEntry: WorkEntry, @unchecked Sendable {
    private let body: @Sendable () -> Void
    private let context: CarriedContext?
    private let group: WorkGroup

    /// The entry's place among the group's members. Under the group's lock.
    var member = 0

    /// Enters the group.
    init(
        of group: WorkGroup, queue: QueueCore, level: LevelCode, flags: WorkItemFlags,
        body: @escaping @Sendable () -> Void
    ) {
        self.body = body
        self.group = group
        context = .captured(flags)
        super.init(
            queue: queue, level: level, isBarrier: flags.contains(.barrier), onShutdown: flags.shutdownBehavior)
        group.enter(self)
    }

    override func passOver() {
        group.leave(self)
    }

    override func perform() {
        CarriedContext.run(context, body)
        group.leave(self)
    }
}

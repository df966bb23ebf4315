import QoSCore
import ServiceContextModule

/// The service context and the activity that go with a submission (rules X1, X2); there is none where both are absent, which costs
/// nothing.
///
/// The level goes its own way, since queues and operations resolve it from more than the submitter (rules B5, O1).
///
/// Threading: a value that never changes.
package final class CarriedContext: Sendable {
    private let context: ExecutionContext

    private init(_ context: ExecutionContext) {
        self.context = context
    }

    /// What the calling code hands on; `nil` for nothing.
    package static func captured() -> CarriedContext? {
        let (service, activity) = (ServiceContext.current, QoS.activity)
        guard service != nil || activity != nil else { return nil }
        return CarriedContext(ExecutionContext(serviceContext: service, activity: activity))
    }

    /// What the calling code hands on with these flags; nothing with `detached` (rule B9).
    static func captured(_ flags: WorkItemFlags) -> CarriedContext? {
        flags.contains(.detached) ? nil : captured()
    }

    /// Runs a body with what was carried, and with nothing else.
    ///
    /// A thread that waits for a queue may run others' items meanwhile: what it has itself must not be seen by them.
    static func run(_ carried: CarriedContext?, _ body: () -> Void) {
        if let carried {
            carried.context.bind(body)
        } else if ServiceContext.current != nil || LevelScope.current != nil {
            ExecutionContext.detached.bind(body)
        } else {
            body()
        }
    }

    /// Runs an async body with what was carried.
    package nonisolated(nonsending) func run<Success>(_ body: nonisolated(nonsending) () async -> Success) async
        -> Success
    {
        await context.bind(body)
    }
}

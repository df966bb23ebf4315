import QoSCore
import ServiceContextModule

/// The service context and the activity of a submission (rules X1, X2). There is none if both are absent, which costs
/// nothing.
///
/// The level is handled separately: queues and operations resolve it from more than the submitter (rules B5, O1).
///
/// Threading: a value that never changes.
package final class CarriedContext: Sendable {
    private let context: ExecutionContext

    private init(_ context: ExecutionContext) {
        self.context = context
    }

    /// Returns the context that the calling code passes on; `nil` for none.
    package static func captured() -> CarriedContext? {
        let (service, activity) = (ServiceContext.current, QoS.activity)
        guard service != nil || activity != nil else { return nil }
        return CarriedContext(ExecutionContext(serviceContext: service, activity: activity))
    }

    /// Returns the context that the calling code passes on with these flags; none with `detached` (rule B9).
    static func captured(_ flags: WorkItemFlags) -> CarriedContext? {
        flags.contains(.detached) ? nil : captured()
    }

    /// Runs a body with the carried context, and with nothing else.
    ///
    /// A thread that waits for a queue may run others' items meanwhile. They must not see the thread's own context.
    static func run(_ carried: CarriedContext?, _ body: () -> Void) {
        if let carried {
            carried.context.bind(body)
        } else if ServiceContext.current != nil || LevelScope.current != nil {
            ExecutionContext.detached.bind(body)
        } else {
            body()
        }
    }

    /// Runs an async body with the carried context.
    package nonisolated(nonsending) func run<Success>(_ body: nonisolated(nonsending) () async -> Success) async
        -> Success
    {
        await context.bind(body)
    }
}

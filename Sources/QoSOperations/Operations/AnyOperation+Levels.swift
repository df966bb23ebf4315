public import QoSCore
import QoSRuntime

extension AnyOperation {
    /// The level that the operation was created with, or given last; `nil` for one that infers it (rule O1).
    ///
    /// Setting it to a higher one than the effective promotes what depends on the operation, what stands in front of it in
    /// its queue, and what those depend on (rule O6); setting it to a lower one changes this operation alone (rule O7). An
    /// operation that has ended keeps its level.
    ///
    /// Setting it to `nil` takes back what was assigned: the operation has the level of its ``kind`` or infers one, as if none had
    /// been given (rules O1, O12): in a queue at once, else when it is added. It rises or falls to that as if it had been set to
    /// it. Without effect on one that had no level assigned.
    public var level: QoSLevel? {
        get { OperationDomain.shared.look { _ in record.requested } }
        set { OperationDomain.shared.setLevel(newValue, of: self) }
    }

    /// The level at which the operation waits, runs or ran, promotions included; `nil` before anything gave it one.
    public var effectiveLevel: QoSLevel? { OperationDomain.shared.level(of: self) }

    package var standing: (level: QoSLevel?, begunAt: QoSClass?) {
        OperationDomain.shared.look { ($0.level(of: self), record.runner?.taskClass) }
    }
}

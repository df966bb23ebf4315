public import QoSCore
import QoSRuntime

extension AnyOperation {
    /// The level that the operation was created with, or given last; `nil` for one that infers it (rule O1).
    ///
    /// Setting it to a higher one than the effective promotes what depends on the operation, what stands in front of it in
    /// its queue, and what those depend on (rule O6); setting it to a lower one changes this operation alone (rule O7). An
    /// operation that has ended keeps its level.
    public var level: QoSLevel? {
        get { OperationDomain.shared.look { _ in record.requested } }
        set {
            if let newValue { OperationDomain.shared.setLevel(newValue, of: self) }
        }
    }

    /// The level at which the operation waits, runs or ran, promotions included; `nil` before anything gave it one.
    public var effectiveLevel: QoSLevel? { OperationDomain.shared.level(of: self) }
}

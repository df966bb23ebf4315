public import QoSCore
import QoSRuntime

extension BaseOperation {
    /// The level that the operation was created with, or the one that was set last; `nil` if it infers its level (rule
    /// O1).
    ///
    /// - A level above the effective one raises its dependents, the operations before it in its queue, and their
    ///   dependencies (rule O6).
    /// - A lower level changes this operation alone (rule O7).
    /// - `nil` takes back an assigned level. The level then comes from ``kind``, or is inferred (rules O1, O12): in a
    ///   queue at once, else when the operation is added. The operation rises or falls to that level.
    ///
    /// An operation that has ended keeps its level.
    public var level: QoSLevel? {
        get { OperationDomain.shared.look { _ in record.requested } }
        set { OperationDomain.shared.setLevel(newValue, of: self) }
    }
}

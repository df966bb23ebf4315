import QoSCore
import QoSRuntime

extension OperationOrigin {
    /// The origin of an operation that the calling code creates (rules O1, O2).
    static func current() -> OperationOrigin {
        let operation = WorkScope.current as? BaseOperation
        return OperationOrigin(
            operation: operation?.effectiveLevel, activity: QoS.levelOfScope, creator: QoS.currentLevel,
            isInteractiveMain: QoSProcess.isInteractiveMain)
    }
}

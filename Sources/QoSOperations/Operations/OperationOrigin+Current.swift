import QoSCore
import QoSRuntime

extension OperationOrigin {
    /// The origin of what the calling code creates (rules O1, O2).
    static func current() -> OperationOrigin {
        guard let work = WorkScope.current else {
            return OperationOrigin(operation: nil, activity: nil, creator: QoS.currentLevel, isInteractiveMain: false)
        }
        return OperationOrigin(
            operation: work is AnyOperation ? work.effectiveLevel : nil, activity: nil, creator: QoS.currentLevel,
            isInteractiveMain: false)
    }
}

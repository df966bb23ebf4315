public import Dispatch
public import QoSCore

// Dispatch's `DispatchQoS` is a class with a relative priority, as our level is (rule C5).

extension QoSClass {
    /// Makes the class of a Dispatch class; `nil` for `unspecified` (rule C5).
    ///
    /// - Complexity: O(1).
    public init?(_ qosClass: DispatchQoS.QoSClass) {
        switch qosClass {
        case .userInteractive: self = .userInteractive
        case .userInitiated: self = .userInitiated
        case .default: self = .default
        case .utility: self = .utility
        case .background: self = .background
        case .unspecified: return nil
        @unknown default: return nil
        }
    }

    /// The Dispatch class of a class (rule C5).
    ///
    /// - Complexity: O(1).
    public var dispatchClass: DispatchQoS.QoSClass {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .default: .default
        case .utility: .utility
        case .background: .background
        }
    }
}

extension QoSLevel {
    /// Makes the level of a Dispatch quality of service; `nil` if its class is unspecified.
    ///
    /// - Throws: ``QoSValueError`` if its relative priority, which Dispatch does not check, is outside of −15…0.
    /// - Complexity: O(1).
    public init?(_ qos: DispatchQoS) throws(QoSValueError) {
        guard let qosClass = QoSClass(qos.qosClass) else { return nil }
        try self.init(qosClass, relativePriority: qos.relativePriority)
    }

    /// The Dispatch quality of service of the level.
    ///
    /// - Complexity: O(1).
    public var dispatchQoS: DispatchQoS {
        DispatchQoS(qosClass: qosClass.dispatchClass, relativePriority: relativePriority.rawValue)
    }
}

public import Foundation
public import QoSCore

// Foundation's values are converted by case: on Linux their raw values are 0…4 and say nothing (rule C5).

extension QoSClass {
    /// Makes the class of a Foundation quality of service (rule C5).
    ///
    /// `.default` is Foundation's word for "no information"; it becomes the class `default`.
    ///
    /// - Complexity: O(1).
    public init(_ qualityOfService: QualityOfService) {
        switch qualityOfService {
        case .userInteractive: self = .userInteractive
        case .userInitiated: self = .userInitiated
        case .default: self = .default
        case .utility: self = .utility
        case .background: self = .background
        @unknown default: self = .default
        }
    }
}

extension QualityOfService {
    /// Makes Foundation's value for a class (rule C5).
    ///
    /// - Complexity: O(1).
    public init(_ qosClass: QoSClass) {
        switch qosClass {
        case .userInteractive: self = .userInteractive
        case .userInitiated: self = .userInitiated
        case .default: self = .default
        case .utility: self = .utility
        case .background: self = .background
        }
    }
}

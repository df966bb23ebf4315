/// A mistake in the use of a host.
public enum WorkloadHostError: Error, Sendable, Hashable {
    /// Two workloads have the same name.
    case duplicateName(WorkloadName)
    /// The host runs already, or has ended.
    case alreadyRun
    /// The configuration makes no sense.
    case invalidConfiguration(String)
    /// The parameters of an item do not decode.
    case parametersUnreadable(WorkloadName, String)
    /// The attempt did not end within its limit.
    case timeLimitPassed(Duration)
}

extension WorkloadHostError: CustomStringConvertible {
    /// The mistake and its remedy.
    public var description: String {
        switch self {
        case .duplicateName(let name):
            "two workloads have the name '\(name)': give each its own"
        case .alreadyRun:
            "the host runs already, or has ended: make a new one with the same store"
        case .invalidConfiguration(let mistake):
            "the host cannot be made: \(mistake)"
        case .parametersUnreadable(let name, let mistake):
            "the parameters of '\(name)' cannot be read: \(mistake); "
                + "keep new properties optional, raise the version of the workload with other changes, or cancel the item "
                + "and insert it again"
        case .timeLimitPassed(let limit):
            "the attempt ran longer than its limit of \(limit)"
        }
    }
}

/// A refused background activity. A refused call changes nothing.
public enum BackgroundActivityError: Error, Sendable, Hashable {
    /// The activity makes no sense; with the mistake and its remedy.
    case invalid(identifier: String, String)
    /// An activity of this identifier is scheduled, or its last run has not ended.
    case duplicateIdentifier(String)
    /// The scheduler of the activities has ended.
    case ended
}

extension BackgroundActivityError: CustomStringConvertible {
    /// The mistake and its remedy.
    public var description: String {
        switch self {
        case .invalid(let identifier, let problem): "the activity '\(identifier)' has \(problem)"
        case .duplicateIdentifier(let identifier):
            "there is an activity '\(identifier)': cancel it and wait until its run has ended, or use another name"
        case .ended: "the scheduler of background activities has ended: make a new one on a running scheduler"
        }
    }
}

public import QoSCore

/// An event in the life of a background activity (rule S5). Each names the activity by its identifier.
public enum BackgroundActivityEvent: Sendable, Hashable {
    /// A run began.
    case began(String)
    /// The run was asked to defer, for a reason.
    case askedToDefer(String, reason: String)
    /// The run ended.
    case ended(String, BackgroundActivityResult)
    /// The run exceeded a limit, after this duration. It continues.
    case overran(String, ActivityOverrun, after: Duration)
}

/// The end of a run of a background activity.
public enum BackgroundActivityResult: Sendable, Hashable, Codable {
    /// The body has done its work.
    case finished
    /// The body gave way. The activity runs again.
    case deferred
    /// The body threw this error. The next run follows as after success.
    case failed(String)
    /// The activity was cancelled.
    case cancelled
}

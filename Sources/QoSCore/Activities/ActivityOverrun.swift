/// A limit that a run of a background activity exceeded.
public enum ActivityOverrun: String, Sendable, Hashable, Codable, CaseIterable {
    /// The run takes longer than `BackgroundActivity.runLimit`. It is asked to defer.
    case runLimit
    /// The run was asked to defer, and goes on for longer than `BackgroundActivity.deferralLimit`.
    case deferralLimit
}

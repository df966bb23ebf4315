/// What becomes of a piece of work when its scheduler is shut down.
///
/// Work that declares nothing is run if it is queued, and has the grace of the shutdown to come to an end; what is suspended then
/// is not waited for. In no case is a task dropped: what is not waited for goes on on the process's default executor.
///
/// Raw values are bits, so that of several declared at once the union counts: any two different ones make ``block``.
public enum ShutdownBehavior: UInt8, Sendable, Hashable, CaseIterable, Codable {
    /// The shutdown does not wait for it: what runs goes on, what is queued goes to the process's default executor.
    case `continue` = 0b01

    /// What has not begun is not begun: an item is passed over as if it were cancelled, a task is cancelled and run, so that it
    /// sees that. What runs has the grace to end.
    case skip = 0b10

    /// The shutdown waits for it, within its grace, and raises it to `userInitiated`.
    case block = 0b11
}

/// The behaviour of work at a shutdown of its scheduler.
///
/// Work without a declaration runs if it is queued, and has the grace of the shutdown to end. Suspended work is not
/// waited for. No task is ever dropped: it goes on on the process's default executor.
///
/// Raw values are bits. Of several declared behaviours the union counts: any two different ones make ``finish``.
public enum ShutdownBehavior: UInt8, Sendable, Hashable, CaseIterable, Codable {
    /// The shutdown does not wait. Running work goes on, queued work goes to the process's default executor.
    case `continue` = 0b01

    /// Work that has not begun does not begin. An item is passed over as if it were cancelled. A task is cancelled and
    /// run, so it sees the cancellation. Running work has the grace to end.
    case skip = 0b10

    /// The shutdown waits for the work, within its grace, and raises it to `userInitiated`.
    case finish = 0b11
}

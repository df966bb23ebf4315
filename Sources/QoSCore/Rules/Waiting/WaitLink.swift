/// One who waits for another, and why: a link of waits that could never end. Each one's awaited is the next one's waiter.
package struct WaitLink<Party: Hashable & Sendable, Cause: Hashable & Sendable>: Sendable, Hashable {
    /// Who waits.
    package let waiter: Party
    /// Who has to go on first.
    package let awaited: Party
    /// Why, or for what that the other one has.
    package let cause: Cause

    /// A link.
    package init(waiter: Party, awaited: Party, cause: Cause) {
        self.waiter = waiter
        self.awaited = awaited
        self.cause = cause
    }
}

/// A wait of one party for another, as a link of a circle. The awaited party of each link is the waiter of the next.
package struct WaitLink<Party: Hashable & Sendable, Cause: Hashable & Sendable>: Sendable, Hashable {
    /// The waiting party.
    package let waiter: Party
    /// The party that has to go on first.
    package let awaited: Party
    /// The reason, or the awaited resource.
    package let cause: Cause

    /// Makes a link.
    package init(waiter: Party, awaited: Party, cause: Cause) {
        self.waiter = waiter
        self.awaited = awaited
        self.cause = cause
    }
}

/// A wait that could never end. Every party that could end it waits, in the end, for the one that would begin to wait.
package struct WaitCycle<Party: Hashable & Sendable, Resource: Hashable & Sendable>: Error, Sendable, Hashable {
    /// One wait of the cycle: its cause is the resource, which the awaited party holds.
    package typealias Link = WaitLink<Party, Resource>

    /// The waits, from that of the refused party on.
    package let links: [Link]

    /// Makes a cycle.
    package init(links: [Link]) {
        self.links = links
    }

    /// Whether a party waits for a resource that it holds itself.
    package var isReentrant: Bool { links.count == 1 }
}

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

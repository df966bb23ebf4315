/// A wait that could never end: everybody who could end it waits, in the end, for the one who would begin to wait.
package struct WaitCycle<Party: Hashable & Sendable, Resource: Hashable & Sendable>: Error, Sendable, Hashable {
    /// One wait of the cycle.
    package struct Link: Sendable, Hashable {
        /// Who waits.
        package let waiter: Party
        /// For what.
        package let resource: Resource
        /// Who holds that.
        package let holder: Party

        /// Makes a link.
        package init(waiter: Party, resource: Resource, holder: Party) {
            self.waiter = waiter
            self.resource = resource
            self.holder = holder
        }
    }

    /// The waits, from that of the refused party on; each one's holder is the next one's waiter.
    package let links: [Link]

    /// Whether somebody waits for what it holds itself.
    package var isReentrant: Bool { links.count == 1 }
}

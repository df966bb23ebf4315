/// A wait that could never end: everybody who could end it waits, in the end, for the one who would begin to wait.
package struct WaitCycle<Party: Hashable & Sendable, Resource: Hashable & Sendable>: Error, Sendable, Hashable {
    /// One wait of the cycle: its cause is the resource, which the awaited party holds.
    package typealias Link = WaitLink<Party, Resource>

    /// The waits, from that of the refused party on.
    package let links: [Link]

    /// A cycle.
    package init(links: [Link]) {
        self.links = links
    }

    /// Whether somebody waits for what it holds itself.
    package var isReentrant: Bool { links.count == 1 }
}

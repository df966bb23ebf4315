/// Who waits for what, and who holds it: from this follows how far each holder is raised (rules I1, I2), who is next, and whether
/// a wait could ever end.
///
/// A party, a thread or a task, waits for one resource at a time and may hold several; a resource may have several holders, as a
/// semaphore has. A party *inherits* the highest effective level of those who wait for what it holds; its *effective* level is the
/// higher of its own and what it inherits. The inherited levels are the least fixed point of that, so a raise is transitive over
/// chains, and nobody is raised without somebody who waits.
///
/// Events change the graph and return what changed for whom; the graph itself does nothing. A value, without locks.
///
/// Complexity: of an event O(parties down the chain × what each holds), and O(waiters of one resource) to keep them in order.
package struct WaitGraph<Party: Hashable & Sendable, Resource: Hashable & Sendable>: Sendable {
    /// How long a chain may be, counted from the one who begins to wait, for the wait to raise anybody.
    package let depthLimit: Int

    struct Node: Sendable {
        /// The level at which it began to wait; `nil` is unspecified, and before it waited.
        var own: QoSLevel?
        var inherited: QoSLevel?
        var holds: [Resource] = []
        var waitsFor: Resource?
        /// Whether somebody whom the graph does not know can end its wait.
        var mayBeFreedByOthers = false
        /// Its place among equal waiters.
        var sequence: UInt64 = 0
        /// Whether its wait raises the holders; not when the chain was too long.
        var isLinked = true
        var effective: QoSLevel? { QoSLevel.higher(own, inherited) }
        var isIdle: Bool { holds.isEmpty && waitsFor == nil }
    }

    struct Entry: Sendable {
        var holders: [Party] = []
        /// From the highest effective level to the lowest, and by arrival within one.
        var waiters: [Party] = []
    }

    var nodes: [Party: Node] = [:]
    var entries: [Resource: Entry] = [:]
    var lastSequence: UInt64 = 0

    /// Nobody waits.
    package init(depthLimit: Int = 64) {
        self.depthLimit = depthLimit
    }

    /// Whether nobody holds or waits for anything that the graph knows of.
    package var isEmpty: Bool { nodes.isEmpty && entries.isEmpty }

    /// What a party is raised to by those who wait for it; `nil` for nothing. O(1).
    package func inheritedLevel(of party: Party) -> QoSLevel? { nodes[party]?.inherited }

    /// The higher of what a party waits at and what it inherits. O(1).
    package func effectiveLevel(of party: Party) -> QoSLevel? { nodes[party]?.effective }

    /// What a party waits for. O(1).
    package func resource(awaitedBy party: Party) -> Resource? { nodes[party]?.waitsFor }

    /// Who holds a resource, as far as the graph was told. O(1).
    package func holders(of resource: Resource) -> [Party] { entries[resource]?.holders ?? [] }

    /// Who waits for a resource, in the order in which they get it. O(1).
    package func waiters(for resource: Resource) -> [Party] { entries[resource]?.waiters ?? [] }
}

extension QoSLevel {
    /// The higher of two levels; `nil`, no information, is below all.
    package static func higher(_ left: QoSLevel?, _ right: QoSLevel?) -> QoSLevel? {
        guard let left else { return right }
        return left.raised(to: right)
    }
}

/// The parties of a set of waits that can never go on.
///
/// A party without a wait goes on, now or in the end. A waiting party goes on when enough of its targets do: all of
/// them, or one, as the wait says. The remaining parties stand still. Each of them waits for another one of them, so
/// there is a circle.
///
/// - Complexity: O(reachable parties + their waits), once; without recursion.
package struct DeadlockedSet<Party: Hashable & Sendable, Cause: Hashable & Sendable> {
    package typealias Link = WaitLink<Party, Cause>

    /// The targets of a party's wait.
    package struct Wait {
        /// The awaited parties, and the reasons.
        package let links: [(awaited: Party, cause: Cause)]
        /// The number of awaited parties that have to go on before this one can; at most all of them.
        package fileprivate(set) var missing: Int

        /// Returns a wait for all of the parties.
        package static func all(_ links: [(awaited: Party, cause: Cause)]) -> Wait {
            Wait(links: links, missing: links.count)
        }

        /// Returns a wait for a number of the parties.
        package static func any(_ count: Int, of links: [(awaited: Party, cause: Cause)]) -> Wait {
            Wait(links: links, missing: count)
        }
    }

    /// The waits of the parties that can never go on.
    private var waits: [Party: Wait] = [:]

    /// Searches all reachable parties.
    ///
    /// - Parameters:
    ///   - starts: the first parties of the search.
    ///   - wait: returns the wait of a party; `nil` if it can or may go on.
    package init(from starts: some Sequence<Party>, _ wait: (Party) -> Wait?) {
        var dependents: [Party: [Party]] = [:]
        var free: [Party] = []
        var pending = Array(starts)
        var seen = Set(pending)
        while let party = pending.popLast() {
            guard let wait = wait(party), wait.missing > 0 else {
                free.append(party)
                continue
            }
            waits[party] = wait
            for link in wait.links {
                dependents[link.awaited, default: []].append(party)
                if seen.insert(link.awaited).inserted { pending.append(link.awaited) }
            }
        }
        while let party = free.popLast() {
            for waiter in dependents[party] ?? [] {
                waits[waiter]?.missing -= 1
                if waits[waiter]?.missing == 0 {
                    waits[waiter] = nil
                    free.append(waiter)
                }
            }
        }
    }

    /// Whether a party can never go on.
    package func includes(_ party: Party) -> Bool { waits[party] != nil }

    /// Returns the shortest way from a party back to itself over those that can never go on; empty without one.
    package func circle(through party: Party) -> [Link] {
        var cameBy: [Party: Link] = [:]
        var pending = [party]
        var next = 0
        while next < pending.count, cameBy[party] == nil {
            let waiter = pending[next]
            next += 1
            for (awaited, cause) in waits[waiter]?.links ?? [] where includes(awaited) && cameBy[awaited] == nil {
                cameBy[awaited] = Link(waiter: waiter, awaited: awaited, cause: cause)
                pending.append(awaited)
            }
        }
        var links: [Link] = []
        var link = cameBy[party]
        while let found = link {
            links.append(found)
            link = found.waiter == party ? nil : cameBy[found.waiter]
        }
        return links.reversed()
    }

    /// Returns the first of some parties that is on a circle of parties that can never go on; `nil` if none is. The
    /// others stand behind a circle at most.
    package func firstOnCircle(of parties: [Party]) -> Party? {
        // Nobody waits for some of them, nor for others but these. What remains is on a circle or behind one.
        var waiters: [Party: Int] = [:]
        for wait in waits.values {
            for link in wait.links where includes(link.awaited) { waiters[link.awaited, default: 0] += 1 }
        }
        var unawaited = waits.keys.filter { waiters[$0] == nil }
        while let party = unawaited.popLast() {
            for link in waits[party]?.links ?? [] where includes(link.awaited) {
                waiters[link.awaited, default: 0] -= 1
                if waiters[link.awaited] == 0 { unawaited.append(link.awaited) }
            }
        }
        return parties.first { waiters[$0, default: 0] > 0 && !circle(through: $0).isEmpty }
    }

    /// Returns a way from a party to a circle of waits, and around that circle.
    package func way(from party: Party) -> [Link] {
        var links: [Link] = []
        var passed: Set<Party> = []
        var waiter = party
        while passed.insert(waiter).inserted, let link = waits[waiter]?.links.first(where: { includes($0.awaited) }) {
            links.append(Link(waiter: waiter, awaited: link.awaited, cause: link.cause))
            waiter = link.awaited
        }
        return links
    }
}

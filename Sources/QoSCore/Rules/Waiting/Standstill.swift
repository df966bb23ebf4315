/// Who of those that wait can never go on.
///
/// Who waits for nothing goes on, now or in the end; who waits goes on as soon as enough of those do whom it waits for: all of them,
/// or one, as the wait says. What is left over stands still, and each of that waits for another of it, so that there is a circle.
///
/// Complexity: O(parties that can be reached + what each waits for), once; without recursion.
package struct Standstill<Party: Hashable & Sendable, Cause: Hashable & Sendable> {
    package typealias Link = WaitLink<Party, Cause>

    /// What a party waits for.
    package struct Wait {
        /// Whom it waits for, and why.
        package let links: [(awaited: Party, cause: Cause)]
        /// How many of them have to go on before the party can; no more than there are.
        package fileprivate(set) var missing: Int

        /// A wait for all of them.
        package static func all(_ links: [(awaited: Party, cause: Cause)]) -> Wait {
            Wait(links: links, missing: links.count)
        }

        /// A wait for so many of them.
        package static func any(_ count: Int, of links: [(awaited: Party, cause: Cause)]) -> Wait {
            Wait(links: links, missing: count)
        }
    }

    /// The waits of those that can never go on.
    private var waits: [Party: Wait] = [:]

    /// Looks at everybody who can be reached.
    ///
    /// - Parameters:
    ///   - starts: where to begin.
    ///   - wait: what a party waits for; `nil` if it can go on, or may.
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

    /// The shortest way from a party back to itself over those that can never go on; empty without one.
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

    /// A way from a party to others that wait for one another, and around.
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

/// What is known of one party: what it waits for, and what it holds that others wait for; as a value.
///
/// A party *inherits* the highest level that is demanded for what it holds; its *effective* level is the higher of that and its
/// own.
package struct WaitRecord: Sendable {
    /// A party's wait.
    package struct Wait: Sendable {
        /// What is waited for.
        package let resource: LockResource
        /// Its place in the line of a lock.
        package let place: Int
        /// Tells it from the party's other waits.
        package let id: UInt64
        /// The level at which the party waits, without what it inherits.
        package fileprivate(set) var own: LevelCode

        /// Whether it has been looked at, and was not refused.
        package fileprivate(set) var isSettled = false

        /// A wait.
        package init(for resource: LockResource, place: Int, id: UInt64, own: LevelCode) {
            (self.resource, self.place, self.id, self.own) = (resource, place, id, own)
        }
    }

    private struct Demand {
        let resource: LockResource
        var level: LevelCode
    }

    /// The wait of the party, which waits for one resource at a time.
    package private(set) var wait: Wait?

    /// The highest of the demands.
    package private(set) var inherited = LevelCode.none

    /// What is demanded for what the party holds. Most have one at a time.
    private var demand: Demand?
    private var others: [Demand] = []

    /// Nothing is known.
    package init() {}

    /// The higher of what the party waits at and what it inherits.
    package var effective: LevelCode { max(wait?.own ?? .none, inherited) }

    /// Whether others wait for something that the party holds.
    package var isAwaited: Bool { demand != nil }

    /// Whether nothing is known.
    package var isIdle: Bool { wait == nil && demand == nil }

    /// The party begins to wait; it must not wait yet.
    package mutating func begins(_ wait: Wait) {
        precondition(self.wait == nil, "a party waits for one thing at a time")
        self.wait = wait
    }

    /// The wait is over.
    package mutating func stopsWaiting() {
        wait = nil
    }

    /// The wait has been looked at, and is not refused.
    package mutating func settles() {
        wait?.isSettled = true
    }

    /// The waiting party is raised: its wait is of this level from now on, if that is higher.
    package mutating func raiseOwn(to level: LevelCode) {
        guard let wait, wait.own < level else { return }
        self.wait?.own = level
    }

    /// Others wait for a resource that the party holds, the highest of them at this level.
    package mutating func demands(_ level: LevelCode, for resource: LockResource) {
        if demand == nil || demand?.resource == resource {
            demand = Demand(resource: resource, level: level)
        } else if let place = others.firstIndex(where: { $0.resource == resource }) {
            others[place].level = level
        } else {
            others.append(Demand(resource: resource, level: level))
        }
        settle()
    }

    /// Nobody waits for a resource any more, or the party does not hold it any more.
    package mutating func demandsNothing(for resource: LockResource) {
        if demand?.resource == resource {
            demand = others.popLast()
        } else {
            others.removeAll { $0.resource == resource }
        }
        settle()
    }

    private mutating func settle() {
        inherited = others.reduce(demand?.level ?? .none) { max($0, $1.level) }
    }
}

/// Who holds a lock that others wait for, and who they are; as a value.
package struct WaitSite: Sendable {
    /// The parties that hold it, once for each share.
    package var holders: [LockParty]
    /// Those who wait.
    package var line = WaitLine()

    /// A lock with its holders.
    package init(holders: [LockParty] = []) {
        self.holders = holders
    }
}

/// The known facts of one party, as a value: its wait, and the waits of others for its resources.
///
/// A party *inherits* the highest level that is demanded for its resources. Its *effective* level is the higher of that
/// and its own.
package struct WaitRecord: Sendable {
    /// A party's wait.
    package struct Wait: Sendable {
        /// The awaited resource.
        package let resource: LockResource
        /// The place in the line of a lock.
        package let place: Int
        /// A number that differs from those of the party's other waits.
        package let id: UInt64
        /// The level of the wait, without the inherited one.
        package fileprivate(set) var own: LevelCode

        /// Whether the wait was looked at, and not refused.
        package fileprivate(set) var isSettled = false

        /// Whether the party's thread is on its way to sleep, and may still run foreign code. Then the party goes on.
        fileprivate var isAwake: Bool

        /// Whether a look has passed over the wait because the thread was awake.
        fileprivate var wasPassedOver = false

        /// Makes a wait.
        ///
        /// - Parameter isAwake: whether the party is a thread that calls ``WaitRecord/fallsAsleep(for:)`` before it
        ///   sleeps.
        package init(for resource: LockResource, place: Int, id: UInt64, own: LevelCode, isAwake: Bool = false) {
            (self.resource, self.place, self.id, self.own) = (resource, place, id, own)
            self.isAwake = isAwake
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

    /// The demand of others for the party's resource. Most parties have one at a time.
    private var demand: Demand?
    private var others: [Demand] = []

    /// Makes a record without facts.
    package init() {}

    /// The higher of the wait's own level and the inherited one.
    package var effective: LevelCode { max(wait?.own ?? .none, inherited) }

    /// Whether others wait for a resource of the party.
    package var isAwaited: Bool { demand != nil }

    /// Whether the record is empty.
    package var isIdle: Bool { wait == nil && demand == nil }

    /// Notes that the party begins to wait, unless it waits already.
    ///
    /// Foreign code, such as an observer or an escalation handler, may wait on a thread that is about to wait itself.
    /// The record keeps the outer wait, which has to end anyway.
    ///
    /// - Returns: whether the record has the wait.
    @discardableResult
    package mutating func begins(_ wait: Wait) -> Bool {
        guard self.wait == nil else { return false }
        self.wait = wait
        return true
    }

    /// Notes that the wait is over.
    package mutating func stopsWaiting() {
        wait = nil
    }

    /// Notes that the wait for a resource is over. A record that has another wait keeps it.
    package mutating func stopsWaiting(for resource: LockResource) {
        if wait?.resource == resource { wait = nil }
    }

    /// Notes that the wait was looked at, and is not refused.
    package mutating func settles() {
        wait?.isSettled = true
    }

    /// Whether the party goes on although it waits, because its thread is awake. Notes that a look has passed over the
    /// wait: the thread looks itself when it falls asleep.
    package mutating func passesOver() -> Bool {
        guard wait?.isAwake == true else { return false }
        wait?.wasPassedOver = true
        return true
    }

    /// Notes that the party's thread goes to sleep in the wait for a resource, unless the record has another wait.
    ///
    /// - Returns: whether a look has passed over the wait. The thread then looks, and calls this again.
    package mutating func fallsAsleep(for resource: LockResource) -> Bool {
        guard let wait, wait.resource == resource else { return false }
        self.wait?.isAwake = false
        guard wait.wasPassedOver else { return false }
        self.wait?.wasPassedOver = false
        self.wait?.isSettled = false
        return true
    }

    /// Notes that the party's thread is about to run foreign code within its wait.
    package mutating func wakesUp() {
        wait?.isAwake = true
    }

    /// Raises the waiting party: its wait is of this level from now on, if that is higher.
    package mutating func raiseOwn(to level: LevelCode) {
        guard let wait, wait.own < level else { return }
        self.wait?.own = level
    }

    /// Notes that others wait for a resource of the party, the highest of them at this level.
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

    /// Notes that no party waits for a resource any more, or that this party does not hold it any more.
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

/// A lock's holders and waiters, as a value.
package struct LockQueue: Sendable {
    /// The holders, once for each share.
    package var holders: LockHolders
    /// The waiters.
    package var line = WaitLine()

    /// Makes a lock with its holders.
    package init(holders: [LockParticipant] = []) {
        self.holders = LockHolders(holders)
    }
}

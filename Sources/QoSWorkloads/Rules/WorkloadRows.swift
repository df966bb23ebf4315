package import QoSCore

// The rows of a store, for which the rules of workloads are written once.
//
// A store is a set of tables: items, dependencies, lanes, keys. `WorkloadRules.swift` has every decision that concerns
// several items. A store that conforms to `WorkloadRows` has each event of a `WorkloadStore` as a method, within a
// transaction of its own.
//
//     the store in memory ──▶ WorkloadTable      ┐
//     the store in SQLite ──▶ StoreTransaction   ┴─ conform to WorkloadRows ──▶ inserted, exchanged, raised, cancelled…
//
// Three rules keep a database fast:
// - A row is read once, changed as a value, and written once. Rows that only move to another queue are not read.
// - A question has an answer of a bounded size, or names the largest size.
// - A promotion is one set operation (`raiseReach`), however many items it reaches.

/// An item as the rules see it: its record, and its place in the queues of its store.
package struct ItemRow: Sendable {
    /// The queue that an item is in.
    package enum Place: Int64, Sendable {
        /// It runs, has ended, or waits for other items.
        case none = 0
        /// It waits for a host.
        case lane = 1
        /// It waits for a place of its key.
        case parked = 2
        /// It waits for its time.
        case due = 3
    }

    /// The record. Its parameters and its checkpoint may be missing.
    package var record: WorkloadRecord
    /// The number of the lane that it enters when it is ready.
    package var lane: Int64
    package var place = Place.none
    package var hasCheckpoint = false
    /// Whether unfinished items may stand before it.
    package var mayHaveParents = true
    /// Whether unfinished items may wait for it.
    package var mayHaveChildren = true

    package var id: WorkloadItemID { record.id }
    package var key: ConcurrencyKey? { record.request.concurrency }

    package init(record: WorkloadRecord, lane: Int64) {
        self.record = record
        self.lane = lane
    }
}

/// The ready items of one workload with the same conditions and the same version of the parameters.
package struct WorkloadLane: Sendable {
    package let id: Int64
    package let workload: Int64
    package let name: WorkloadName
    /// The number of the set of conditions, which all of its lanes share; 0 without conditions.
    package let gate: Int64
    package let conditions: Set<WorkloadCondition>
    /// The version of the parameters.
    package let version: Int

    package init(
        id: Int64, workload: Int64, name: WorkloadName, gate: Int64, conditions: Set<WorkloadCondition>, version: Int
    ) {
        (self.id, self.workload, self.name) = (id, workload, name)
        (self.gate, self.conditions, self.version) = (gate, conditions, version)
    }

    /// Whether an item with this record belongs to the lane.
    package func takes(_ record: WorkloadRecord) -> Bool {
        name == record.request.name && version == record.request.version && conditions == record.gateConditions
    }
}

extension WorkloadRecord {
    /// The conditions that hold the item back.
    package var gateConditions: Set<WorkloadCondition> { ignoresConditions ? [] : request.conditions }
}

/// A ready item as the indexes of its store see it.
package struct ReadyItem: Sendable {
    package let id: WorkloadItemID
    package let level: QoSLevel
    package let due: WallTime
    package let place: ItemRow.Place
    package let lane: Int64
    package let key: ConcurrencyKey?

    package init(
        id: WorkloadItemID, level: QoSLevel, due: WallTime, place: ItemRow.Place, lane: Int64, key: ConcurrencyKey?
    ) {
        (self.id, self.level, self.due) = (id, level, due)
        (self.place, self.lane, self.key) = (place, lane, key)
    }
}

/// The items of a key that wait in the same lane and class, with the same limit. They differ in nothing but their
/// order, so a host that can run one of them can run each.
package struct KeyLines: Sendable {
    package var key: String
    /// `nil` for the lines of all lanes.
    package var lane: Int64?
    /// `nil` for the lines of all limits.
    package var limit: Int?
    /// `nil` for the lines of all classes.
    package var qosClass: QoSClass?
}

/// The turns of a workload in a class.
package struct WorkloadFlow: Sendable, Hashable {
    package var qosClass: QoSClass
    /// The number of the workload; 0 for the turn of the last claim of the class.
    package var workload: Int64
}

/// The place of an item in the order of all that wait for their time.
package struct DuePlace: Sendable, Equatable {
    package let level: Int64
    package let due: Int64
    package let item: Int64

    /// The place before all others.
    package static let first = DuePlace(level: -1, due: .min, item: 0)

    package init(level: Int64, due: Int64, item: Int64) {
        (self.level, self.due, self.item) = (level, due, item)
    }
}

/// The reason why items have to wait, and the time since when.
package struct WorkloadHold: Sendable {
    package let reason: String
    package let since: WallTime

    package init(reason: String, since: WallTime) {
        (self.reason, self.since) = (reason, since)
    }
}

/// The state of the rules within one transaction. A store keeps the first four parts between its transactions.
package struct RuleState: Sendable {
    /// The latest time that the store was given.
    package var latest: WallTime?
    /// The number of the last item that was inserted.
    package var lastID: Int64 = 0
    /// Changes with each request to the holder of a lease, and with the loss of one.
    package var mark = TermsMark.fresh()
    /// The last item that was planned again after the clock was set back; `nil` if all are.
    package var replanned: DuePlace?

    /// The number of steps that one transaction may take with items that became due or were released.
    package let stepLimit: Int
    /// The steps that this transaction may still take.
    package var budget: Int
    /// Whether an item may begin that could not, or waits for a time that no host knows yet.
    package var hasNews = false
    /// Whether an item ended, or a holder of a lease is asked for something.
    package var hasRequests = false

    package init(stepLimit: Int) {
        self.stepLimit = stepLimit
        budget = stepLimit
    }

    /// Whether a host should look at the store.
    package var concernsHosts: Bool { hasNews || hasRequests }
}

/// The rows from which the state of a waiting item is derived.
package protocol WorkloadReading {
    /// The unfinished parents of an item, in order.
    func parents(of child: WorkloadItemID) throws -> [WorkloadItemID]
    /// Returns the name of an item's workload and its number; `nil` for an unknown item.
    func displayName(of id: WorkloadItemID) throws -> String?
    /// The paused workloads.
    func holds() throws -> [WorkloadName: WorkloadHold]
    /// Why the conditions of a lane do not hold; `nil` if they do.
    func hold(ofLane lane: Int64) throws -> WorkloadHold?
    /// The number of running items with a concurrency key.
    func runningCount(ofKey key: String) throws -> Int
    /// The time of the last claim of an item with a key.
    func lastUse(ofKey key: String) throws -> WallTime?
}

/// The rows of a store within a transaction.
///
/// The methods decide nothing. A method that names an item expects it to exist, unless it says otherwise.
package protocol WorkloadRows: WorkloadReading {
    /// The state of the rules.
    var rules: RuleState { get set }
    /// A number that changes with each write of a row.
    var changes: Int { get }
    /// The error of rows that contradict one another.
    func damage(_ what: String) -> any Error

    // MARK: Items

    /// Returns an item; `nil` for an unknown one.
    ///
    /// - Parameter isWhole: whether its parameters and its checkpoint are wanted.
    mutating func find(_ id: WorkloadItemID, isWhole: Bool) throws -> ItemRow?
    /// Returns the state of an item; `nil` for an unknown one.
    func state(of id: WorkloadItemID) throws -> WorkloadState?
    /// Writes a new item.
    mutating func insert(_ item: ItemRow) throws
    /// Writes all that changes in the life of an item, except for its request and its checkpoint.
    mutating func update(_ item: ItemRow) throws
    /// Writes a request that has taken the place of the item's old one.
    mutating func updateRequest(of item: ItemRow) throws
    /// Moves a ready item to another queue.
    mutating func move(_ id: WorkloadItemID, to place: ItemRow.Place) throws
    /// Keeps a checkpoint, or removes it with `nil`.
    ///
    /// - Returns: whether it differs from the last one.
    @discardableResult
    mutating func keep(_ checkpoint: [UInt8]?, of item: inout ItemRow) throws -> Bool
    /// Adds an attempt to the history of an item, of which the last ones stay.
    mutating func keep(_ attempt: WorkloadAttempt, of id: WorkloadItemID) throws
    /// Removes items that ended in some states before a time, a limited number of them.
    ///
    /// - Returns: their number.
    mutating func removeEnded(before time: WallTime, in states: Set<WorkloadState>, atMost limit: Int) throws -> Int

    // MARK: Unique keys

    /// Returns the item that has a unique key.
    func item(withKey key: String) throws -> WorkloadItemID?
    /// Gives a unique key to an item.
    mutating func setItem(_ id: WorkloadItemID, withKey key: String) throws
    /// Takes a unique key from an item that may have it, and gives it to another one, or to none.
    mutating func pass(key: String, from id: WorkloadItemID, to other: WorkloadItemID?) throws

    // MARK: Dependencies

    /// Whether an item has unfinished parents.
    func hasParents(_ child: WorkloadItemID) throws -> Bool
    /// The first children of an item, in order. *cancels*: the child is cancelled if the item fails.
    func children(of parent: WorkloadItemID, atMost limit: Int) throws -> [(child: WorkloadItemID, cancels: Bool)]
    /// The highest level of an item's children; `nil` without children.
    func highestLevel(ofChildrenOf parent: WorkloadItemID) throws -> QoSLevel?
    /// Whether an item waits for another one, directly or through others.
    func waits(_ child: WorkloadItemID, for parent: WorkloadItemID) throws -> Bool
    /// Adds a dependency, or replaces it.
    mutating func link(_ child: WorkloadItemID, to parent: WorkloadItemID, cancels: Bool) throws
    /// Removes a dependency, or all dependencies of a child with `nil`.
    mutating func unlink(_ child: WorkloadItemID, from parent: WorkloadItemID?) throws
    /// Gives the children of an item to another one, which may itself be one of them.
    mutating func moveChildren(of old: WorkloadItemID, to new: WorkloadItemID) throws
    /// Raises unfinished items of lower levels to a level, and then their parents, until nothing changes.
    ///
    /// - Returns: the ready items with a key that rose; and whether a running item rose.
    mutating func raiseReach(
        _ ids: [WorkloadItemID], to level: QoSLevel
    ) throws -> (keyed: [ReadyItem], hasRunning: Bool)

    // MARK: Lost parents and releases

    /// Notes this parent and all others of an item that is about to be cancelled because of it.
    mutating func noteLostParents(of child: WorkloadItemID, with parent: WorkloadItemID) throws
    /// The lost parents of an item that still exist, with their states, in order.
    func lostParents(of child: WorkloadItemID) throws -> [(id: WorkloadItemID, state: WorkloadState)]
    /// Removes the notes about lost parents of an item.
    mutating func forgetLostParents(of child: WorkloadItemID) throws
    /// The first items behind a number that have a lost parent, in order.
    func lostChildren(
        of parent: WorkloadItemID, behind child: WorkloadItemID, atMost limit: Int
    ) throws -> [WorkloadItemID]
    /// The first item whose children are still to be released or revived, and the last child that was revived.
    func nextRelease() throws -> (parent: WorkloadItemID, behind: WorkloadItemID)?
    /// Notes how far the release of an item's children is; `nil` if it is over.
    mutating func setRelease(of parent: WorkloadItemID, behind child: WorkloadItemID?) throws

    // MARK: Times

    /// Returns items whose time has come, and that are written anew before they are asked for again. If there are more
    /// of them than the limit, those with the highest levels.
    mutating func takeDue(at now: WallTime, atMost limit: Int) throws -> [WorkloadItemID]
    /// The first items behind a place that wait for their time.
    func due(behind place: DuePlace, atMost limit: Int) throws -> [DuePlace]
    /// The time at which the next item is due; `nil` if no item waits for its time.
    mutating func firstDue() throws -> WallTime?

    // MARK: Lanes

    /// All lanes.
    var lanes: [WorkloadLane] { get }
    /// Makes the lane of an item.
    mutating func makeLane(of record: WorkloadRecord) throws -> WorkloadLane
    /// The first items of a lane in some classes: the highest level first, then the earliest due time, then the lowest
    /// number. *hasMore*: whether the lane may have more of them. It has a first one if there is any.
    mutating func fronts(
        ofLane lane: Int64, in classes: Set<QoSClass>, atMost limit: Int
    ) throws -> (fronts: [ReadyItem], hasMore: Bool)
    /// The items in lanes and lines whose relative priority is not 0, and that have been due since before a time.
    func overdue(dueBefore time: WallTime, atMost limit: Int) throws -> [(id: WorkloadItemID, level: QoSLevel)]
    /// The turns that a flow has taken.
    func turns(of flow: WorkloadFlow) throws -> Int64
    /// Notes the turns that a flow has taken.
    mutating func setTurns(_ turns: Int64, of flow: WorkloadFlow) throws
    /// The gates whose conditions do not hold, as a host judged them last.
    func closedGates() throws -> [Int64: WorkloadHold]
    /// Notes why the conditions of a gate do not hold; `nil` if they do.
    mutating func setHold(_ hold: WorkloadHold?, ofGate gate: Int64) throws
    /// Pauses a workload, or resumes it with `nil`.
    mutating func setHold(_ hold: WorkloadHold?, of name: WorkloadName) throws

    // MARK: Concurrency keys

    /// The running items with a key.
    func running(withKey key: String) throws -> [WorkloadItemID]
    /// Notes the time of a claim; `nil` if no item with the key runs any more.
    mutating func setLastUse(_ time: WallTime?, ofKey key: String) throws
    /// Moves the first parked item of each of these lines into its lane, if its limit is above a number.
    ///
    /// - Returns: whether it moved one.
    mutating func unpark(_ lines: KeyLines, above running: Int) throws -> Bool

    // MARK: Leases

    /// Notes renewals, as far as the leases are valid.
    mutating func renew(_ leases: [WorkloadLease]) throws
    /// Returns the standings of leases.
    func standings(of leases: [WorkloadLease]) throws -> [WorkloadLease: LeaseStanding]
}

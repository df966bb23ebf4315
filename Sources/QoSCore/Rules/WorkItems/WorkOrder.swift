/// The order of the items of a queue, and the levels that waiting items demand of running ones, as a value.
///
/// A serial queue is a concurrent one in which every item is a barrier (rules B1, B11). *Held* items wait for their
/// turn. An *active* item has its turn and has not ended. Held items before the first barrier only wait to be taken.
/// The barrier and all items behind it wait for those in front. So an active item is raised to the highest level behind
/// it (rules I1, I3, B13, B15), and only while it is active.
///
/// All operations are O(1), amortised.
package struct WorkOrder: Sendable {
    private struct Held {
        let token: UInt
        var level: LevelCode
        let isBarrier: Bool
    }

    /// Whether the queue runs one item at a time.
    package let isSerial: Bool

    /// The held items are `held[head...]`, the oldest first.
    private var held: [Held] = []
    private var head = 0
    private var headSequence = 0

    /// The number of held items before the first held barrier.
    private var leadingCount = 0
    private var leading = LevelTally()
    private var behind = LevelTally()

    /// The number of active items.
    package private(set) var activeCount = 0
    private var isBarrierActive = false
    private var suspensions = 0

    /// Makes an empty queue.
    package init(isSerial: Bool) {
        self.isSerial = isSerial
    }

    /// The number of held items.
    package var heldCount: Int { held.count - head }

    /// Whether no item is held or active.
    package var isEmpty: Bool { heldCount == 0 && activeCount == 0 }

    /// Whether the queue is suspended: no item gets its turn.
    package var isSuspended: Bool { suspensions > 0 }

    /// The level that waiting items demand of each active one (rule I3).
    package var raise: LevelCode {
        isBarrierActive ? max(leading.highest, behind.highest) : behind.highest
    }

    /// The highest level of the held items.
    package var highestHeld: LevelCode { max(leading.highest, behind.highest) }

    /// The number of the oldest held item.
    var firstHeld: Int { headSequence }

    /// Returns a held item, by its number.
    func heldItem(_ sequence: Int) -> (level: LevelCode, isBarrier: Bool) {
        let item = held[head + sequence - headSequence]
        return (item.level, item.isBarrier)
    }

    // MARK: Items

    /// Adds an item behind all others.
    ///
    /// - Parameter token: the value that ``next()`` returns.
    /// - Returns: the item's number for ``levelChanged(of:to:)``.
    package mutating func added(token: UInt, level: LevelCode, isBarrier: Bool) -> Int {
        let isBarrier = isBarrier || isSerial
        if isBarrier || leadingCount < heldCount {
            behind.add(level)
        } else {
            leading.add(level)
            leadingCount += 1
        }
        held.append(Held(token: token, level: level, isBarrier: isBarrier))
        return headSequence + heldCount - 1
    }

    /// Whether ``next()`` would return an item.
    package var hasNext: Bool {
        guard !isSuspended, heldCount > 0 else { return false }
        return leadingCount > 0 ? !isBarrierActive : activeCount == 0
    }

    /// Gives the next item its turn. The item is active from now on.
    package mutating func next() -> UInt? {
        guard hasNext else { return nil }
        let item = held[head]
        if leadingCount > 0 {
            leading.remove(item.level)
            leadingCount -= 1
        } else {
            behind.remove(item.level)
            isBarrierActive = true
        }
        head += 1
        headSequence += 1
        activeCount += 1
        if isBarrierActive, !isSerial { moveUpToNextBarrier() }
        if head == held.count {
            held.removeAll(keepingCapacity: held.count < 4096)
            head = 0
        } else if head > 4096, head * 2 > held.count {
            held.removeFirst(head)
            head = 0
        }
        return item.token
    }

    /// Counts the items behind the first held barrier, which has become active, up to the next barrier.
    private mutating func moveUpToNextBarrier() {
        var index = head
        while index < held.count, !held[index].isBarrier {
            behind.remove(held[index].level)
            leading.add(held[index].level)
            leadingCount += 1
            index += 1
        }
    }

    /// Makes an item active that was not held, if nothing is in its way: a synchronous submission to an idle queue.
    ///
    /// - Returns: whether the item is active.
    package mutating func entered(isBarrier: Bool) -> Bool {
        guard !isSuspended, heldCount == 0, !isBarrierActive else { return false }
        let isBarrier = isBarrier || isSerial
        guard !isBarrier || activeCount == 0 else { return false }
        activeCount += 1
        isBarrierActive = isBarrier
        return true
    }

    /// Makes an item active beside the active one that submits it synchronously and waits for it (a concurrent queue).
    package mutating func enteredWithin() {
        activeCount += 1
    }

    /// Ends an active item.
    package mutating func ended() {
        precondition(activeCount > 0, "an item ended that was not active")
        activeCount -= 1
        if activeCount == 0 { isBarrierActive = false }
    }

    /// Changes the level of a held item, when a wait for it begins or ends (rule B13).
    ///
    /// - Complexity: O(1).
    package mutating func levelChanged(of sequence: Int, to level: LevelCode) {
        let offset = sequence - headSequence
        precondition(offset >= 0 && offset < heldCount, "an item's level changed that is not held")
        let old = held[head + offset].level
        held[head + offset].level = level
        if offset < leadingCount {
            leading.remove(old)
            leading.add(level)
        } else {
            behind.remove(old)
            behind.add(level)
        }
    }

    // MARK: Suspension

    /// Suspends the queue: no item gets its turn. It has to be resumed as often.
    package mutating func suspended() {
        suspensions += 1
    }

    /// Takes back one suspension.
    ///
    /// - Returns: `false`, without an effect, if the queue was not suspended.
    package mutating func resumed() -> Bool {
        guard suspensions > 0 else { return false }
        suspensions -= 1
        return true
    }
}

/// In which order the items of a queue may run, and what those that wait demand of those that run, as a value.
///
/// A serial queue is a concurrent one in which every item is a barrier (rules B1, B11). *Held* items wait for their turn; an
/// item that has got it is *active*, until it has ended. Held items in front of the first barrier, if any, wait for nothing
/// else than to be taken; the barrier and all behind it wait for those in front. So what is active is raised to the highest
/// level that stands behind it (rules I1, I3, B13, B15), and no further than that item is active itself.
///
/// All operations are O(1), amortised.
package struct WorkOrder: Sendable {
    private struct Held {
        let token: UInt
        var level: LevelCode
        let isBarrier: Bool
    }

    /// Whether one item runs at a time.
    package let isSerial: Bool

    /// The held items are `held[head...]`, the oldest first.
    private var held: [Held] = []
    private var head = 0
    private var headSequence = 0

    /// How many held items stand in front of the first held barrier.
    private var leadingCount = 0
    private var leading = LevelTally()
    private var behind = LevelTally()

    /// How many items are active.
    package private(set) var activeCount = 0
    private var isBarrierActive = false
    private var suspensions = 0

    /// An empty queue.
    package init(isSerial: Bool) {
        self.isSerial = isSerial
    }

    /// How many items wait for their turn.
    package var heldCount: Int { held.count - head }

    /// Whether nothing is held or active.
    package var isEmpty: Bool { heldCount == 0 && activeCount == 0 }

    /// Whether no item gets its turn until the queue is resumed.
    package var isSuspended: Bool { suspensions > 0 }

    /// The level that those that wait demand of each active item (rule I3).
    package var raise: LevelCode {
        isBarrierActive ? max(leading.highest, behind.highest) : behind.highest
    }

    /// The highest level of those that wait.
    package var highestHeld: LevelCode { max(leading.highest, behind.highest) }

    /// The number of the oldest held item.
    var firstHeld: Int { headSequence }

    /// A held item, by its number.
    func heldItem(_ sequence: Int) -> (level: LevelCode, isBarrier: Bool) {
        let item = held[head + sequence - headSequence]
        return (item.level, item.isBarrier)
    }

    // MARK: Items

    /// An item comes in, behind all others.
    ///
    /// - Parameter token: what ``next()`` gives back.
    /// - Returns: the item's number, by which ``levelChanged(of:to:)`` finds it.
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

    /// Whether an item could be taken by ``next()``.
    package var hasNext: Bool {
        guard !isSuspended, heldCount > 0 else { return false }
        return leadingCount > 0 ? !isBarrierActive : activeCount == 0
    }

    /// Gives the next item its turn: it is active from now on.
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

    /// The first held barrier has become active: those behind it wait for it alone, up to the next one.
    private mutating func moveUpToNextBarrier() {
        var index = head
        while index < held.count, !held[index].isBarrier {
            behind.remove(held[index].level)
            leading.add(held[index].level)
            leadingCount += 1
            index += 1
        }
    }

    /// An item becomes active without having been held, where nothing stands in its way: synchronous submission to a queue
    /// that is idle.
    ///
    /// - Returns: whether it does.
    package mutating func entered(isBarrier: Bool) -> Bool {
        guard !isSuspended, heldCount == 0, !isBarrierActive else { return false }
        let isBarrier = isBarrier || isSerial
        guard !isBarrier || activeCount == 0 else { return false }
        activeCount += 1
        isBarrierActive = isBarrier
        return true
    }

    /// An item becomes active beside the active one that submits it synchronously, and that waits for it (a concurrent queue).
    package mutating func enteredWithin() {
        activeCount += 1
    }

    /// An active item has ended.
    package mutating func ended() {
        precondition(activeCount > 0, "an item ended that was not active")
        activeCount -= 1
        if activeCount == 0 { isBarrierActive = false }
    }

    /// The level of a held item has changed: somebody waits for it, or does so no longer (rule B13). O(1).
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

    /// No item gets its turn from now on; as often to be resumed as it was suspended.
    package mutating func suspended() {
        suspensions += 1
    }

    /// - Returns: `false` when the queue was not suspended; nothing happens then.
    package mutating func resumed() -> Bool {
        guard suspensions > 0 else { return false }
        suspensions -= 1
        return true
    }
}

/// The raised fences, in place.
///
/// - Complexity: O(capacity) to raise, lift and halve; nothing allocates.
struct FenceTable: Sendable {
    /// The number of fences that can be up at a time. More would change nothing: one fence stops all classes up to its
    /// ceiling.
    static let capacity = 32

    private var slots = InlineArray<32, Fence?>(repeating: nil)
    private var generation: UInt32 = 0
    private(set) var count = 0
    /// The time at which the next full fence turns to half; `nil` without a full one.
    private(set) var nextHalf: SchedulerInstant?

    /// Raises a fence; `nil` when the table is full.
    mutating func raise(ceiling: QoSClass, holder: QoSClass?, halfAt: SchedulerInstant) -> FenceID? {
        guard let slot = slots.indices.first(where: { slots[$0] == nil }) else { return nil }
        generation &+= 1
        let id = FenceID(slot: UInt8(slot), generation: generation)
        slots[slot] = Fence(id: id, ceiling: ceiling, holder: holder, halfAt: halfAt)
        count += 1
        findNextHalf()
        return id
    }

    /// Lifts a fence; `false` when it is not up, because it was lifted before.
    mutating func lift(_ id: FenceID) -> Bool {
        let slot = Int(id.slot)
        guard slot < Self.capacity, slots[slot]?.id == id else { return false }
        slots[slot] = nil
        count -= 1
        findNextHalf()
        return true
    }

    /// Turns the due fences to half; returns their number.
    mutating func halve(at now: SchedulerInstant) -> Int {
        guard let nextHalf, nextHalf <= now else { return 0 }
        var halved = 0
        for slot in slots.indices {
            guard let fence = slots[slot], !fence.isHalf, fence.halfAt <= now else { continue }
            slots[slot]?.isHalf = true
            halved += 1
        }
        findNextHalf()
        return halved
    }

    /// The number of workers of a class that the fences let run: none below a full one, half of the cores below a half
    /// one. The workers that run awaited work are not counted.
    func limit(of qosClass: QoSClass, cores: Int) -> Int {
        guard count > 0 else { return .max }
        var isFenced = false
        var holders = 0
        for slot in slots.indices {
            guard let fence = slots[slot] else { continue }
            if fence.holder == qosClass { holders += 1 }
            guard fence.ceiling >= qosClass else { continue }
            guard fence.isHalf else { return 0 }
            isFenced = true
        }
        return isFenced ? max(1, cores / 2) + holders : .max
    }

    private mutating func findNextHalf() {
        nextHalf = nil
        for slot in slots.indices {
            guard let fence = slots[slot], !fence.isHalf else { continue }
            nextHalf = min(nextHalf ?? fence.halfAt, fence.halfAt)
        }
    }
}

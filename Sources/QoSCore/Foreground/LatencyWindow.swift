/// The latencies of the last seconds.
///
/// The window consists of slots. A slot leaves as a whole, so the window is up to one slot longer than its length.
package struct LatencyWindow: Sendable {
    private struct Slot: Sendable {
        let number: Int64
        var latencies: LatencyHistogram
    }

    private let slotLength: Int64
    private let slotCount: Int64
    private var slots: [Slot] = []

    /// - Parameters:
    ///   - length: the length of the window; at least 1 ms.
    ///   - slotCount: the number of slots, 1 and up.
    package init(length: Duration, slotCount: Int = 5) {
        self.slotCount = Int64(max(1, slotCount))
        slotLength = max(1_000_000, length.schedulerNanoseconds) / self.slotCount
    }

    /// Adds latencies that were recorded just before a moment, and forgets old ones.
    package mutating func add(_ latencies: LatencyHistogram, at now: SchedulerInstant) {
        let number = now.nanoseconds / slotLength
        slots.removeAll { $0.number < number - slotCount || $0.number > number }
        guard latencies.count > 0 else { return }
        if slots.last?.number == number {
            slots[slots.count - 1].latencies.merge(latencies)
        } else {
            slots.append(Slot(number: number, latencies: latencies))
        }
    }

    /// All latencies of the window.
    package var latencies: LatencyHistogram {
        var result = LatencyHistogram()
        for slot in slots { result.merge(slot.latencies) }
        return result
    }
}

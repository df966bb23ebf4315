import CQoSShims
import Synchronization

/// The serial lane whose items a worker runs, published so that other threads can see the items behind the running one.
///
/// As with ``RunningTask``, the worker does not leave the lane while a thread looks at it. Sequentially consistent.
///
/// Threading: the worker calls ``entered(_:)`` and ``left()``; any thread calls ``inspect(_:)``, several at a time.
struct RunningLane: ~Copyable {
    private let address = Atomic<UInt>(0)
    private let looks = Atomic<Int>(0)

    /// Notes that the worker is about to run items of a lane, which it keeps alive.
    func entered(_ lane: SerialLane) {
        address.store(
            UInt(bitPattern: unsafe Unmanaged.passUnretained(lane).toOpaque()), ordering: .sequentiallyConsistent)
    }

    /// Notes that the worker has come back from the lane.
    func left() {
        address.store(0, ordering: .sequentiallyConsistent)
        while looks.load(ordering: .sequentiallyConsistent) > 0 { cqos_spin_hint() }
    }

    /// Whether nothing is published, as far as a thread can tell without a look.
    var isEmpty: Bool { address.load(ordering: .relaxed) == 0 }

    /// Looks at the lane, if there is one. The body must be short: the worker may wait for it.
    func inspect<Result>(_ body: (SerialLane) -> Result?) -> Result? {
        looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { looks.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let address = self.address.load(ordering: .sequentiallyConsistent)
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        // SAFETY: the worker keeps the lane alive while it is published, and waits for the end of this look.
        return unsafe Unmanaged<SerialLane>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body($0) }
    }
}

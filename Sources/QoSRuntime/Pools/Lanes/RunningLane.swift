import CQoSShims
import Synchronization

/// The serial lane whose items a worker runs, so that others can see what waits behind the running one.
///
/// As with ``RunningTask``, the worker does not leave the lane while somebody looks at it. Sequentially consistent.
///
/// Threading: ``entered(_:)`` and ``left()`` belong to the worker, ``inspect(_:)`` to any thread, several at a time.
struct RunningLane: ~Copyable {
    private let address = Atomic<UInt>(0)
    private let looks = Atomic<Int>(0)

    /// The worker is about to run items of a lane, which it keeps.
    func entered(_ lane: SerialLane) {
        address.store(
            UInt(bitPattern: unsafe Unmanaged.passUnretained(lane).toOpaque()), ordering: .sequentiallyConsistent)
    }

    /// The worker has come back from them.
    func left() {
        address.store(0, ordering: .sequentiallyConsistent)
        while looks.load(ordering: .sequentiallyConsistent) > 0 { cqos_spin_hint() }
    }

    /// Whether nothing is published, as far as is known without a look.
    var isEmpty: Bool { address.load(ordering: .relaxed) == 0 }

    /// Looks at the lane, if there is one. Short: the worker may wait for it.
    func inspect<Result>(_ body: (SerialLane) -> Result?) -> Result? {
        looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { looks.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let address = self.address.load(ordering: .sequentiallyConsistent)
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        // SAFETY: the worker keeps the lane while it is published, and waits for the end of this look.
        return unsafe Unmanaged<SerialLane>.fromOpaque(pointer)._withUnsafeGuaranteedRef { body($0) }
    }
}

import CQoSShims
import QoSCore
import Synchronization

/// The items of work queues that a worker runs, published so that other threads can see their raised levels.
///
/// The innermost item is published, and each item knows the one around it. As with ``RunningTask``, an item does not
/// leave while a thread looks. The looking thread counts itself before it reads. The worker checks that count after it
/// has retracted the item. Sequentially consistent, so one sees the other.
///
/// Threading: the worker calls ``entered(_:)`` and ``left(for:)``; any thread calls ``inspect(_:)``, several at a time.
struct RunningItems: ~Copyable {
    private let innermost = Atomic<UInt>(0)
    private let looks = Atomic<Int>(0)

    /// Notes that the worker is about to run an item.
    @inline(__always)
    func entered(_ item: Unmanaged<PoolEntry>) {
        innermost.store(unsafe UInt(bitPattern: item.toOpaque()), ordering: .sequentiallyConsistent)
    }

    /// Notes that the worker has come back from an item, to the one around it.
    @inline(__always)
    func left(for outer: UnsafeMutableRawPointer?) {
        innermost.store(UInt(bitPattern: outer), ordering: .sequentiallyConsistent)
        while looks.load(ordering: .sequentiallyConsistent) > 0 { cqos_spin_hint() }
    }

    /// Whether nothing is published, as far as a thread can tell without a look.
    var isEmpty: Bool { innermost.load(ordering: .relaxed) == 0 }

    /// The label of the queue of the innermost running item; `nil` when none runs. The loop's thread.
    var innermostLabel: String? {
        looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { looks.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        return inspectedLabel
    }

    /// The same label within ``inspect(_:)``.
    var inspectedLabel: String? {
        let address = innermost.load(ordering: .sequentiallyConsistent)
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        // SAFETY: as below.
        return unsafe Unmanaged<PoolEntry>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.label }
    }

    /// Looks at the highest level of the running items, which do not end meanwhile. The body must be short: the worker
    /// may wait for it.
    func inspect<Result>(_ body: (LevelCode) -> Result) -> Result {
        looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { looks.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        var highest = LevelCode.none
        var address = innermost.load(ordering: .sequentiallyConsistent)
        // SAFETY: the thread that runs a published item keeps it alive, and waits for the end of this look.
        while let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
            let item = unsafe Unmanaged<PoolEntry>.fromOpaque(pointer)
            highest = unsafe max(highest, item._withUnsafeGuaranteedRef { $0.effective })
            address = unsafe item._withUnsafeGuaranteedRef { $0.outerAddress }
        }
        return body(highest)
    }
}

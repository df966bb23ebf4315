import CQoSShims
import QoSCore
import Synchronization

/// The items of work queues that a worker runs, so that others can see what they are raised to.
///
/// The innermost is published; each knows the one around it. As with ``RunningTask``, an item does not leave while somebody
/// looks: the one that looks says so before it reads, the worker looks for that after it has taken the item back.
/// Sequentially consistent, so one sees the other.
///
/// Threading: ``entered(_:)`` and ``left(for:)`` belong to the worker, ``inspect(_:)`` to any thread, several at a time.
struct RunningItems: ~Copyable {
    private let innermost = Atomic<UInt>(0)
    private let looks = Atomic<Int>(0)

    /// The worker is about to run an item.
    @inline(__always)
    func entered(_ item: Unmanaged<PoolEntry>) {
        innermost.store(unsafe UInt(bitPattern: item.toOpaque()), ordering: .sequentiallyConsistent)
    }

    /// The worker has come back from it, to the one around it.
    @inline(__always)
    func left(for outer: UnsafeMutableRawPointer?) {
        innermost.store(UInt(bitPattern: outer), ordering: .sequentiallyConsistent)
        while looks.load(ordering: .sequentiallyConsistent) > 0 { cqos_spin_hint() }
    }

    /// Whether nothing is published, as far as is known without a look.
    var isEmpty: Bool { innermost.load(ordering: .relaxed) == 0 }

    /// The label of the queue whose item is the innermost that runs; `nil` when none does. The loop's thread.
    var innermostLabel: String? {
        looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { looks.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        return inspectedLabel
    }

    /// The same within ``inspect(_:)``.
    var inspectedLabel: String? {
        let address = innermost.load(ordering: .sequentiallyConsistent)
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        // SAFETY: as below.
        return unsafe Unmanaged<PoolEntry>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.label }
    }

    /// Looks at the highest level of the items that run, which do not end meanwhile. Short: the worker may wait for it.
    func inspect<Result>(_ body: (LevelCode) -> Result) -> Result {
        looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { looks.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        var highest = LevelCode.none
        var address = innermost.load(ordering: .sequentiallyConsistent)
        // SAFETY: an item that is published is kept by who runs it, and who runs it waits for the end of this look.
        while let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
            let item = unsafe Unmanaged<PoolEntry>.fromOpaque(pointer)
            highest = unsafe max(highest, item._withUnsafeGuaranteedRef { $0.effective })
            address = unsafe item._withUnsafeGuaranteedRef { $0.outerAddress }
        }
        return body(highest)
    }
}

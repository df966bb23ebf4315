import QoSCore
import QoSKernel
import Synchronization

/// The governor's changes of width that have been made and have not taken effect: more workers of the class are still at work.
///
/// Threading: any thread; one relaxed load where there is none.
struct WidthChanges: ~Copyable {
    /// A change.
    struct Change {
        let limit: Int
        /// When it was made, monotonic nanoseconds.
        let since: UInt64
    }

    private let pending = Atomic<UInt8>(0)
    private let changes = Lock<[Int: Change]>([:])

    @inline(__always)
    var isPending: Bool { pending.load(ordering: .relaxed) != 0 }

    /// A class has a new limit; it takes the place of one that has not taken effect.
    func begin(rank: Int, _ change: Change) {
        changes.withLock { changes in
            changes[rank] = change
            pending.store(1, ordering: .relaxed)
        }
    }

    /// Takes out the changes that have taken effect.
    ///
    /// - Parameter running: how many workers of a class are at work.
    func takeSettled(running: (_ rank: Int) -> Int) -> [(rank: Int, change: Change)] {
        changes.withLock { changes in
            let settled = changes.filter { running($0.key) <= $0.value.limit }
            for rank in settled.keys { changes[rank] = nil }
            pending.store(changes.isEmpty ? 0 : 1, ordering: .relaxed)
            return settled.map { ($0.key, $0.value) }
        }
    }
}

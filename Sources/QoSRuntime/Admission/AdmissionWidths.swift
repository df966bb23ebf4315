import QoSCore
import Synchronization

/// The changes of width limits that have taken effect but were not reported to the observer.
///
/// Threading: written under admission's lock; any thread takes them without the lock.
struct AdmissionWidths: ~Copyable {
    /// A change that has taken effect.
    struct Settled {
        let qosClass: QoSClass
        /// The limit; `Int.max` for none.
        let limit: Int
        /// The time from the call to its effect, nanoseconds.
        let took: UInt64
    }

    private let ready = Atomic<UInt8>(0)
    private let limits = InlineArray<5, Atomic<Int>> { _ in Atomic(.max) }
    private let times = InlineArray<5, Atomic<UInt64>> { _ in Atomic(0) }

    @inline(__always)
    var hasSettled: Bool { ready.load(ordering: .relaxed) != 0 }

    func settled(rank: Int, limit: Int, took: UInt64) {
        limits[rank].store(limit, ordering: .relaxed)
        times[rank].store(took, ordering: .relaxed)
        ready.bitwiseOr(1 << UInt8(rank), ordering: .sequentiallyConsistent)
    }

    /// Takes the changes that have taken effect. Of several changes of one class, it returns the last.
    func take() -> [Settled] {
        QoSClassSet(rawValue: ready.exchange(0, ordering: .sequentiallyConsistent)).members.map { qosClass in
            Settled(
                qosClass: qosClass, limit: limits[qosClass.rank].load(ordering: .relaxed),
                took: times[qosClass.rank].load(ordering: .relaxed))
        }
    }
}

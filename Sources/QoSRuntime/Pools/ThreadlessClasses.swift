import QoSCore
import Synchronization

// A class whose first thread is refused has its work done by the workers of another class. Each later submission to the
// class makes the loop ask for a thread again. So the class has its own workers as soon as the system allows it.

/// The classes of a scheduler that have no thread, because the system refuses it. Nearly always empty.
///
/// Threading: the loop's thread changes it, any thread reads it.
struct ThreadlessClasses: ~Copyable {
    private let ranks = Atomic<UInt8>(0)

    @inline(__always)
    var isEmpty: Bool { ranks.load(ordering: .relaxed) == 0 }

    @inline(__always)
    func contains(rank: Int) -> Bool { ranks.load(ordering: .relaxed) & 1 << UInt8(rank) != 0 }

    func insert(rank: Int) { ranks.bitwiseOr(1 << UInt8(rank), ordering: .sequentiallyConsistent) }

    func remove(rank: Int) {
        if contains(rank: rank) { ranks.bitwiseAnd(~(1 << UInt8(rank)), ordering: .sequentiallyConsistent) }
    }
}

extension PoolGroup {
    /// Returns the class whose workers do the work of a class: itself, unless it has no thread or the scheduler is
    /// clamped.
    @inline(__always)
    func servingClass(for qosClass: QoSClass) -> QoSClass {
        let serving = clamp.isOn ? .background : qosClass
        return threadless.contains(rank: serving.rank) ? standIn(for: serving) : serving
    }

    /// The nearest higher class with workers, else the nearest lower one. The class itself if no class has workers.
    ///
    /// A higher class goes first, so that no work is slower than its class promises. A class that is paused goes last.
    @inline(never)
    private func standIn(for qosClass: QoSClass) -> QoSClass {
        let ranks = Array(qosClass.rank + 1..<QoSClass.allCases.count) + (0..<qosClass.rank).reversed()
        let served = ranks.filter { pools[$0].started > 0 && !threadless.contains(rank: $0) }
        let rank = served.first { admission.widthLimit(rank: $0) > 0 } ?? served.first
        return rank.map { QoSClass(atRank: $0) } ?? qosClass
    }

    /// Gives the queued work of a class without a thread to the workers of another class. Without workers anywhere, the
    /// work stays until the loop's next attempt. The loop's thread.
    func lendWork(ofThreadless rank: Int) {
        let serving = servingClass(for: QoSClass(atRank: rank)).rank
        guard serving != rank else { return }
        var nodes = pools[rank].injection.takeAll()
        while let node = nodes.popFirst() {
            node.changesClass()
            pools[serving].add(node)
        }
    }
}

import QoSCore
import QoSKernel

/// The open parallel loops of a queue, and the entries in the queue that help with them.
///
/// An entry belongs to no single loop. When its turn comes it helps with each open one. So a queue never holds more
/// entries than can run at once, even if a thousand loops begin and end before a worker is free.
///
/// Threading: any thread.
final class ParallelHelp: Sendable {
    private struct Loops {
        /// The number of entries that wait in the queue.
        var waiting = 0
        var open: [ParallelWork] = []
    }

    private let loops = Lock<[LevelCode: Loops]>([:])

    /// Adds a loop that begins.
    ///
    /// - Parameter wanted: the number of entries that may help it.
    /// - Returns: the number of entries to add, each for ``help(at:)``.
    func began(_ work: ParallelWork, at level: LevelCode, wanted: Int) -> Int {
        loops.withLock { loops in
            var found = loops[level] ?? Loops()
            let missing = max(wanted - found.waiting, 0)
            found.waiting += missing
            found.open.append(work)
            loops[level] = found
            return missing
        }
    }

    /// Removes a loop that has ended, or has no iteration left.
    func ended(_ work: ParallelWork, at level: LevelCode) {
        loops.withLock { loops in
            loops[level]?.open.removeAll { $0 === work }
            forgetIfUnused(level, &loops)
        }
    }

    /// Takes part in one loop after the other until none is open. Called when an entry's turn has come.
    func help(at level: LevelCode) {
        loops.withLock { $0[level]?.waiting -= 1 }
        while let work = loops.withLock({ $0[level]?.open.first }) {
            CarriedContext.run(work.context) { work.takePart() }
            ended(work, at: level)
        }
        loops.withLock { loops in forgetIfUnused(level, &loops) }
    }

    private func forgetIfUnused(_ level: LevelCode, _ loops: inout [LevelCode: Loops]) {
        if let found = loops[level], found.waiting == 0, found.open.isEmpty { loops[level] = nil }
    }
}

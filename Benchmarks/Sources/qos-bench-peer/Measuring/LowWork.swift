import CBenchShims
import QoSCore
import Synchronization

/// Work that competes: tasks that use processor time in pieces and yield after each, until they are stopped.
final class LowWork: CompetingWork {
    private let isOver = Flag()
    private let usedTimes: [QoSClass: Counter]
    private let pieces: [QoSClass: Latencies]
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Starts the tasks.
    ///
    /// - Parameters:
    ///   - count: of tasks in each class.
    ///   - piece: nanoseconds of processor time between two yields.
    ///   - recordsTurns: whether to keep the time from each piece's end to the next one's.
    init(_ classes: [QoSClass], count: Int, piece: UInt64, on stage: Stage, recordsTurns: Bool = false) {
        usedTimes = Dictionary(uniqueKeysWithValues: classes.map { ($0, Counter()) })
        pieces = Dictionary(
            uniqueKeysWithValues: classes.map { ($0, Latencies(capacity: recordsTurns ? 100_000 : 0)) })
        for qosClass in classes {
            guard let used = usedTimes[qosClass], let turns = pieces[qosClass] else { continue }
            for _ in 0..<count {
                let task = stage.detached(qosClass) { [isOver] in
                    var last = bench_now()
                    while !isOver.isSet {
                        used.add(Int(bench_work(piece)))
                        if recordsTurns {
                            let now = bench_now()
                            turns.add(Double(now - last))
                            last = now
                        }
                        await Task.yield()
                    }
                }
                tasks.withLock { $0.append(task) }
            }
        }
    }

    func used() -> Int {
        usedTimes.values.map(\.count).reduce(0, +)
    }

    /// Processor nanoseconds used so far by a class.
    func used(by qosClass: QoSClass) -> Int {
        usedTimes[qosClass]?.count ?? 0
    }

    /// The recorded turns of a class, nanoseconds; when it has ended.
    func turns(of qosClass: QoSClass) -> [Double] {
        pieces[qosClass]?.values ?? []
    }

    func stop() {
        isOver.set()
    }

    /// Waits until they have ended.
    func waitForEnd() async {
        for task in tasks.withLock({ $0 }) { await task.value }
    }
}

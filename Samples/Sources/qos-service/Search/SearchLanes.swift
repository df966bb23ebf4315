internal import CoreMetrics
internal import Indexing
internal import QoSRuntime
internal import Synchronization
internal import TreeScan

/// Accepts searches, and prevents one client's searches from delaying the others' answers.
///
/// A search begins in the quick lane, which has as many places as there are processors, at most four. A search that is
/// not done after a short while, or is known to take long, goes to the slow lane. That lane has one place, at utility.
/// Both lanes have a bounded number of waiting places.
///
/// Quick searches run at userInitiated and may take all workers of that class. The handlers of all requests are at
/// userInteractive, so they do not wait for a search. One place less would keep a processor idle while searches wait.
/// On two processors, that made the p99 of searches two to six times as long while the index was built.
struct SearchLanes: Sendable {
    /// A lane in which searches run.
    private struct Lane: Sendable {
        let places: AsyncSemaphore
        let width: Int
        let waiting: Int
        /// The waiting and the running searches.
        let waiters = Headcount()
        let timeLimit: Duration
        let processorTimeLimit: Duration?
        let qosClass: QoSClass
        let running: Meter
    }

    let index: SearchIndex
    /// Takes the latency of each search that was answered in the quick lane.
    private let latencies: @Sendable (Duration) -> Void
    private let quick: Lane
    private let slow: Lane
    /// The maximum number of refreshes that run or wait. They run one after the other.
    private static let refreshLimit = 8
    private let refreshing = Headcount()

    /// Makes lanes.
    ///
    /// - Parameters:
    ///   - index: The index to search.
    ///   - processors: The number of the process's processors.
    ///   - limits: The time limits and the numbers of waiting places.
    ///   - latencies: Takes the latency of each search that was answered in the quick lane.
    init(
        index: SearchIndex,
        processors: Int,
        limits: SearchLimits,
        latencies: @escaping @Sendable (Duration) -> Void = { _ in }
    ) throws {
        self.index = index
        self.latencies = latencies
        // The index has five connections for reading; the slow lane needs one.
        let width = min(4, max(1, processors))
        quick = Lane(
            places: try AsyncSemaphore(permits: width, name: "quick searches"),
            width: width,
            waiting: limits.quickWaiting,
            timeLimit: limits.quickPatience,
            processorTimeLimit: limits.quickTime,
            qosClass: .userInitiated,
            running: ServiceMetrics.running(lane: "quick")
        )
        slow = Lane(
            places: try AsyncSemaphore(permits: 1, name: "slow searches"),
            width: 1,
            waiting: limits.slowWaiting,
            timeLimit: limits.time,
            processorTimeLimit: nil,
            qosClass: .utility,
            running: ServiceMetrics.running(lane: "slow")
        )
    }

    /// Answers a query.
    ///
    /// - Throws: `SearchError`, `BusyError` when no waiting place is free, `CancellationError`.
    func search(_ query: SearchQuery) async throws -> SearchAnswer {
        if !query.isExpensive {
            do {
                let start = ContinuousClock.now
                let answer = try await run(in: quick) { try index.search(query, control: $0) }
                latencies(ContinuousClock.now - start)
                return answer
            } catch SearchError.timedOut {
                ServiceMetrics.slowed.increment()
            }
        }
        do {
            return try await run(in: slow) { try index.search(query, control: $0) }
        } catch SearchError.timedOut {
            ServiceMetrics.timedOut.increment()
            throw SearchError.timedOut
        }
    }

    /// Brings a folder of the index up to date, at the class of requests, within a time limit.
    ///
    /// - Throws: `ParameterError.notAFolder`, `BusyError` when no waiting place is free, `IndexError`.
    func refresh(_ folder: RelativePath, within limit: Duration) async throws -> SearchIndex.RefreshReport {
        guard refreshing.enter(below: Self.refreshLimit) else {
            ServiceMetrics.refused.increment()
            throw BusyError()
        }
        defer { refreshing.leave() }
        let index = index
        do {
            return try await runTask(at: .userInitiated) { try await index.refresh(folder, within: limit) }
        } catch IndexError.folder(.notAFolder) {
            throw ParameterError.notAFolder("fresh")
        }
    }

    /// A file of the index.
    enum File: Sendable {
        case number(Int64)
        case path(RelativePath)
    }

    /// Returns lines of a file's text, with the matches of a query marked.
    func excerpt(of file: File, lines: ClosedRange<Int>, marking query: SearchQuery?) async throws -> TextExcerpt? {
        try await run(in: quick) { control in
            switch file {
            case .number(let id): try index.excerpt(of: id, lines: lines, marking: query, control: control)
            case .path(let path): try index.excerpt(at: path, lines: lines, marking: query, control: control)
            }
        }
    }

    private func run<Value: Sendable>(
        in lane: Lane,
        _ body: @escaping @Sendable (SearchControl) throws -> Value
    ) async throws -> Value {
        guard lane.waiters.enter(below: lane.waiting + lane.width) else {
            ServiceMetrics.refused.increment()
            throw BusyError()
        }
        defer { lane.waiters.leave() }
        return try await lane.places.withPermit {
            lane.running.increment()
            defer { lane.running.decrement() }
            let control = SearchControl(timeLimit: lane.timeLimit, processorTimeLimit: lane.processorTimeLimit)
            return try await withTaskCancellationHandler {
                try await runTask(at: lane.qosClass) { try body(control) }
            } onCancel: {
                control.cancel()
                ServiceMetrics.cancelled.increment()
            }
        }
    }
}

/// The limits of searches: their time, and the number of waiting ones.
struct SearchLimits: Sendable, Equatable {
    /// The processor time after which a search leaves the quick lane. A busy machine does not make a search a slow one.
    var quickTime = Duration.milliseconds(50)
    /// The time after which it leaves the quick lane in any case, for example because it waits for a disk.
    var quickPatience = Duration.milliseconds(500)
    /// The time after which a search is given up.
    var time = Duration.seconds(2)
    /// The number of searches that may wait for a place in the quick lane.
    var quickWaiting = 64
    /// The number of searches that may wait for the place in the slow lane.
    var slowWaiting = 4
}

/// A refusal because all places are taken, the waiting ones included.
struct BusyError: Error, CustomStringConvertible {
    var description: String { "Too many searches are under way. Try again in a second." }
}

/// A counter with a limit.
private final class Headcount: Sendable {
    private let count = Mutex(0)

    /// Counts one in if there is room.
    func enter(below limit: Int) -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    /// Counts one out.
    func leave() {
        count.withLock { $0 -= 1 }
    }
}

@testable import QoSRuntime

/// A serial lane, its adders, the pools' queues and the workers, at the granularity of the steps of
/// `Docs/Inside/Protocols/serial-lane.md`. The decisions are those of ``LaneWord``.
struct LaneModel: ExploredModel {
    /// The next step of a thread that adds an item.
    enum Adder: Hashable {
        case pushes(rank: Int)
        case changesWord(rank: Int)
        case submits(rank: Int)
        case done
    }

    /// The next step of a worker that an activation has reached.
    enum Runner: Hashable {
        case idle
        /// Has taken the activation from its queue and not yet changed the word.
        case reached(rank: Int)
        case takesArrivals(rank: Int, left: Int)
        case choosesItem(rank: Int, left: Int)
        case runsItem(rank: Int, left: Int)
        case sorts(rank: Int)
        case stops(rank: Int)
        case submits(rank: Int, activation: Int)
        case looksAgain(rank: Int)
        case resumes(rank: Int)

        var ownsLane: Bool {
            switch self {
            case .takesArrivals, .choosesItem, .runsItem, .sorts, .stops: true
            case .idle, .reached, .submits, .looksAgain, .resumes: false
            }
        }
    }

    /// The number of items of a run; small, so that the exploration tries the end of a batch.
    static let batch = 2

    var word: UInt8 = 0
    var adders: [Adder]
    var runners: [Runner]
    /// Ranks of the items, in no particular order.
    var arrivals: [Int] = []
    var waiting: [Int] = []
    var ran = 0
    /// The number of activations in the queue of each rank.
    var queued = [Int](repeating: 0, count: 5)

    /// - Parameter looks: how often, at any time, somebody looks at what waits: it owns the lane as one that goes on
    ///   does.
    init(ranks: [Int], runners: Int, looks: Int = 0) {
        adders = ranks.map { .pushes(rank: $0) }
        self.runners =
            Array(repeating: .idle, count: runners) + Array(repeating: .resumes(rank: 4), count: looks)
    }

    // MARK: What must never be

    var violation: String? {
        if runners.filter(\.ownsLane).count > 1 { return "two workers run the lane" }
        if queued.contains(where: { $0 > 1 }) { return "an activation stands in a queue twice" }
        for (rank, count) in queued.enumerated() where count > 0 {
            if runners.contains(.reached(rank: rank)) { return "an activation is queued while a worker reads it" }
        }
        let isSettled = runners.allSatisfy { $0 == .idle } && adders.allSatisfy { $0 == .done }
        guard isSettled, let highest = (arrivals + waiting).max() else {
            return isSettled && ran != adders.count ? "\(adders.count - ran) items are lost" : nil
        }
        let reachable = (highest..<5).contains { queued[$0] > 0 }
        return reachable ? nil : "an item of rank \(highest) waits and no activation at least as high is queued"
    }

    // MARK: What can happen

    var steps: [(name: String, next: LaneModel)] {
        adders.indices.flatMap { addersSteps($0) } + runners.indices.flatMap { runnersSteps($0) }
    }

    private func after(_ name: String, _ change: (inout LaneModel) -> Void) -> (name: String, next: LaneModel) {
        var next = self
        change(&next)
        return (name, next)
    }

    private func addersSteps(_ index: Int) -> [(name: String, next: LaneModel)] {
        switch adders[index] {
        case .pushes(let rank):
            [
                after("adder \(index) pushes an item of rank \(rank)") {
                    $0.arrivals = ($0.arrivals + [rank]).sorted()
                    $0.adders[index] = .changesWord(rank: rank)
                }
            ]
        case .changesWord(let rank):
            [
                after("adder \(index) changes the word") {
                    if let word = LaneWord(rawValue: $0.word).itemAdded(rank: rank) {
                        $0.word = word.rawValue
                        $0.adders[index] = .submits(rank: rank)
                    } else {
                        $0.adders[index] = .done
                    }
                }
            ]
        case .submits(let rank):
            [
                after("adder \(index) submits the activation of rank \(rank)") {
                    $0.queued[rank] += 1
                    $0.adders[index] = .done
                }
            ]
        case .done:
            []
        }
    }

    private func runnersSteps(_ index: Int) -> [(name: String, next: LaneModel)] {
        switch runners[index] {
        case .idle:
            // Workers are alike, so that only the first idle one needs to be tried.
            guard runners.firstIndex(of: .idle) == index else { return [] }
            return queued.indices.filter { queued[$0] > 0 }.map { rank in
                after("worker \(index) takes the activation of rank \(rank)") {
                    $0.queued[rank] -= 1
                    $0.runners[index] = .reached(rank: rank)
                }
            }
        case .reached(let rank):
            return [
                after("worker \(index) changes the word") {
                    let (word, runs) = LaneWord(rawValue: $0.word).activationTaken(rank: rank)
                    $0.word = word.rawValue
                    $0.runners[index] = runs ? .takesArrivals(rank: rank, left: Self.batch) : .idle
                }
            ]
        case .takesArrivals(let rank, let left):
            return [
                after("worker \(index) takes the arrivals") {
                    $0.waiting = ($0.waiting + $0.arrivals).sorted()
                    $0.arrivals = []
                    $0.runners[index] = .choosesItem(rank: rank, left: left)
                }
            ]
        case .choosesItem(let rank, let left):
            return [
                after("worker \(index) looks for an item") {
                    guard left > 0, $0.waiting.last == rank else {
                        $0.runners[index] = .sorts(rank: rank)
                        return
                    }
                    $0.waiting.removeLast()
                    $0.runners[index] = .runsItem(rank: rank, left: left - 1)
                }
            ]
        case .runsItem(let rank, let left):
            return [
                after("worker \(index) runs the item") {
                    $0.ran += 1
                    $0.runners[index] = left > 0 ? .takesArrivals(rank: rank, left: left) : .sorts(rank: rank)
                }
            ]
        case .sorts, .stops, .submits, .looksAgain, .resumes:
            return stoppingSteps(index)
        }
    }

    private func stoppingSteps(_ index: Int) -> [(name: String, next: LaneModel)] {
        switch runners[index] {
        case .sorts(let rank):
            [
                after("worker \(index) takes what has arrived meanwhile") {
                    $0.waiting = ($0.waiting + $0.arrivals).sorted()
                    $0.arrivals = []
                    $0.runners[index] = .stops(rank: rank)
                }
            ]
        case .stops(let rank):
            [
                after("worker \(index) stops") {
                    let (word, submit) = LaneWord(rawValue: $0.word).runEnded(leaving: $0.waiting.last)
                    $0.word = word.rawValue
                    $0.runners[index] = submit.map { .submits(rank: rank, activation: $0) } ?? .looksAgain(rank: rank)
                }
            ]
        case .submits(let rank, let activation):
            [
                after("worker \(index) submits the activation of rank \(activation)") {
                    $0.queued[activation] += 1
                    $0.runners[index] = .looksAgain(rank: rank)
                }
            ]
        case .looksAgain(let rank):
            [
                after("worker \(index) looks at the arrivals once more") {
                    $0.runners[index] = $0.arrivals.isEmpty ? .idle : .resumes(rank: rank)
                }
            ]
        case .resumes(let rank):
            [
                after("worker \(index) goes on, or leaves it to another") {
                    if let word = LaneWord(rawValue: $0.word).runResumed() {
                        $0.word = word.rawValue
                        $0.runners[index] = .sorts(rank: rank)
                    } else {
                        $0.runners[index] = .idle
                    }
                }
            ]
        case .idle, .reached, .takesArrivals, .choosesItem, .runsItem:
            []
        }
    }
}

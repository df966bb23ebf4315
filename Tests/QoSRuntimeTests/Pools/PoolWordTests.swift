import Testing

@testable import QoSRuntime

@Suite("The pool's word")
struct PoolWordTests {
    private func noLink(_ worker: Int) -> Int? { nil }

    @Test("begins with nobody")
    func empty() {
        let word = PoolWord()
        #expect(word.parkedTop == nil)
        #expect(word.searching == 0)
        #expect(word.started == 0)
    }

    @Test("work starts one worker after the other until the pool is full, but none while one searches")
    func starting() {
        var word = PoolWord()
        for index in 0..<3 {
            let (next, notification) = word.workAdded(width: 3, nextParked: noLink)
            #expect(notification == .start(worker: index))
            #expect(next.started == index + 1)
            #expect(next.searching == 1)
            let (same, nothing) = next.workAdded(width: 3, nextParked: noLink)
            #expect(nothing == .nothing)
            #expect(same == next)
            let (found, wasLast) = next.workFound()
            #expect(wasLast)
            word = found
        }
        let (same, nothing) = word.workAdded(width: 3, nextParked: noLink)
        #expect(nothing == .nothing)
        #expect(same == word)
    }

    @Test("the worker that parked last is woken first, before a new one is started")
    func stack() {
        var word = PoolWord(rawValue: 3 << 20)  // Three are started, of a width of four.
        var links: [Int: Int] = [:]
        for worker in [1, 0, 2] {
            links[worker] = word.parkedTop
            word = word.workerParks(worker, wasSearching: false)
            #expect(word.parkedTop == worker)
        }
        for expected in [2, 0, 1] {
            let (next, notification) = word.workAdded(width: 4) { links[$0] }
            #expect(notification == .unpark(worker: expected, putBack: nil))
            #expect(next.searching == 1)
            #expect(next.started == 3)
            word = next.workFound().0
        }
        #expect(word.parkedTop == nil)
        #expect(word.workAdded(width: 4, nextParked: noLink).1 == .start(worker: 3))
    }

    @Test("if the second is preferred, it is woken, and the top one is off the stack until it is put back")
    func second() {
        var word = PoolWord(rawValue: 3 << 20)
        var links: [Int: Int] = [:]
        func park(_ worker: Int) {
            links[worker] = word.parkedTop
            word = word.workerParks(worker, wasSearching: false)
        }
        for worker in [1, 0, 2] { park(worker) }
        var asked: [[Int]] = []
        let (next, notification) = word.workAdded(width: 3) {
            asked.append([$0, $1])
            return true
        } nextParked: {
            links[$0]
        }
        #expect(asked == [[2, 0]])
        #expect(notification == .unpark(worker: 0, putBack: 2))
        #expect(next.parkedTop == 1)
        #expect(next.searching == 1)
        // Nobody looks for the worker that is off the stack while another one searches.
        #expect(next.workAdded(width: 3) { links[$0] }.1 == .nothing)
        word = next
        park(2)
        #expect(word.parkedTop == 2)
        #expect(links[2] == 1)
        #expect(word.searching == 1)
    }

    @Test("a worker that is alone on the stack is woken, whichever is preferred")
    func noSecond() {
        let word = PoolWord(rawValue: 1 << 20).workerParks(0, wasSearching: false)
        let (_, notification) = word.workAdded(width: 1, prefersSecond: { _, _ in true }, nextParked: noLink)
        #expect(notification == .unpark(worker: 0, putBack: nil))
    }

    @Test(
        "at most half of the started workers search, one at least",
        arguments: [
            (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (8, 4), (PoolWord.maximumWorkers, PoolWord.maximumWorkers / 2),
        ])
    func searchers(_ started: Int, _ limit: Int) {
        var word = PoolWord(rawValue: UInt64(started) << 20)
        var joined = 0
        while let next = word.searchWanted() {
            word = next
            joined += 1
        }
        #expect(joined == limit)
        #expect(word.searching == limit)
        #expect(word.started == started)
    }

    @Test("only the last that stops searching is told that it was the last")
    func lastSearcher() throws {
        let word = PoolWord(rawValue: 2 << 10 | 4 << 20)
        let (one, first) = word.workFound()
        let (none, second) = one.workFound()
        #expect(!first)
        #expect(second)
        #expect(none.searching == 0)
    }

    @Test("a searching worker that parks stops to search in the same change", arguments: [true, false])
    func parks(_ wasSearching: Bool) {
        let word = PoolWord(rawValue: 1 << 10 | 2 << 20).workerParks(1, wasSearching: wasSearching)
        #expect(word.searching == (wasSearching ? 0 : 1))
        #expect(word.parkedTop == 1)
    }

    @Test("a thread that could not be made leaves no trace but the version")
    func startFailed() {
        let (word, _) = PoolWord(rawValue: 1 << 20).workAdded(width: 4, nextParked: noLink)
        let failed = word.startFailed()
        #expect(failed.started == 1)
        #expect(failed.searching == 0)
        #expect(failed.workAdded(width: 4, nextParked: noLink).1 == .start(worker: 1))
    }

    @Test("every change makes the word another one, so that a stale compare-and-swap fails")
    func version() {
        let start = PoolWord(rawValue: 2 << 20)
        let parked = start.workerParks(0, wasSearching: false)
        let woken = parked.workAdded(width: 2, nextParked: noLink).0
        let back = woken.workFound().0
        #expect(back.parkedTop == start.parkedTop)
        #expect(back.searching == start.searching)
        #expect(back.started == start.started)
        #expect(back != start)
    }

    @Test("the version wraps around without touching the rest")
    func wrapping() {
        let last = PoolWord(rawValue: UInt64.max << 30 | 2 << 20)
        let next = last.workerParks(1, wasSearching: false)
        #expect(next.rawValue >> 30 == 0)
        #expect(next.started == 2)
        #expect(next.parkedTop == 1)
    }

    @Test("counts as many workers as it says it can")
    func maximum() {
        let width = PoolWord.maximumWorkers
        var word = PoolWord(rawValue: UInt64(width - 1) << 20)
        word = word.workAdded(width: width, nextParked: noLink).0
        #expect(word.started == width)
        #expect(word.workFound().0.workerParks(width - 1, wasSearching: false).parkedTop == width - 1)
        #expect(word.workFound().0.workAdded(width: width, nextParked: noLink).1 == .nothing)
    }

    @Test("beside a late wake-up a parked worker is woken, and no thread is created")
    func late() {
        let links: [Int?] = [nil, 0]
        let parked = PoolWord(rawValue: 2 << 20).workerParks(0, wasSearching: false).workerParks(1, wasSearching: false)
        let (first, _) = parked.workAdded(width: 3) { links[$0] }
        #expect(first.workAdded(width: 3) { links[$0] }.1 == .nothing)
        let (second, notification) = first.workAdded(width: 3, isLate: true) { links[$0] }
        #expect(notification == .unpark(worker: 0, putBack: nil))
        #expect(second.searching == 2)
        #expect(second.workAdded(width: 3, isLate: true) { links[$0] }.1 == .nothing)
    }

    @Test("a wake-up is late once its time is over, until its worker runs or another one is woken")
    func wakeWatch() {
        let watch = WakeWatch()
        // The macro cannot look into a value that is not copyable.
        func isLate() -> Bool { watch.isLate }
        #expect(!isLate())
        watch.wakes()
        while !isLate() {}
        watch.wakes()
        while !isLate() {}
        watch.began()
        #expect(isLate())
        watch.began()
        #expect(!isLate())
    }
}

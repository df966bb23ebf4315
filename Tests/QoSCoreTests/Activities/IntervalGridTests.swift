import Testing

@testable import QoSCore

@Suite("The windows of runs at a fixed distance")
struct IntervalGridTests {
    private let grid = IntervalGrid(interval: .nanoseconds(100), tolerance: .nanoseconds(20))

    @Test("S5 the next window stays on the grid, and keeps its distance from a late run")
    func next() {
        #expect(grid.next(after: 0, begunAt: 20) == 100)
        #expect(grid.next(after: 0, begunAt: 21) == 101)
        #expect(grid.next(after: 0, begunAt: 1000) == 1080)
        #expect(grid.next(after: .max - 10, begunAt: 0) == .max)
    }

    @Test("the first open window is the first one on the grid that has not ended")
    func firstOpen() {
        for time in Int64(-50)...1000 {
            var due: Int64 = 0
            while due + 20 < time { due += 100 }
            #expect(grid.firstOpen(from: 0, at: time) == due, "at \(time)")
        }
    }

    @Test("times at the ends of the range do not overflow")
    func extremes() {
        #expect(grid.firstOpen(from: .min, at: .max) > 0)
        #expect(grid.firstOpen(from: 0, at: .max) > .max - 200)
        #expect(grid.firstOpen(from: .max, at: .max) == .max)
    }
}

import Testing

@testable import QoSCore

private func at(_ milliseconds: Int64) -> SchedulerInstant { SchedulerInstant(nanoseconds: milliseconds * 1_000_000) }

@Suite("S4 the window after foreground I/O")
struct IOWindowTests {
    @Test("S4 utility keeps off for 25 ms, background for 100 ms, others not at all")
    func keepsOff() {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        window.foregroundEnded(at: at(1))
        #expect(window.answer(to: .userInitiated, at: at(1)) == .free)
        #expect(window.answer(to: .default, at: at(1)) == .free)
        #expect(window.answer(to: .utility, at: at(1)) == .wait(until: at(25)))
        #expect(window.answer(to: .utility, at: at(26)) == .free)
        #expect(window.answer(to: .background, at: at(26)) == .wait(until: at(100)))
        #expect(window.answer(to: .background, at: at(101)) == .free)
    }

    @Test("C7 without foreground I/O nothing is restrained", arguments: QoSClass.allCases)
    func free(qosClass: QoSClass) {
        #expect(IOWindow().answer(to: qosClass, at: at(0)) == .free)
    }

    @Test("C7 foreground I/O that goes on delays a low class no longer than it keeps off")
    func boundedDelay() {
        var window = IOWindow()
        for request in 0..<100 as Range<Int64> {
            window.foregroundBegan(at: at(request * 2))
            window.foregroundEnded(at: at(request * 2 + 1))
        }
        #expect(window.answer(to: .utility, at: at(200)) == .alone(largestPiece: 256 << 10))
        #expect(window.answer(to: .background, at: at(200)) == .alone(largestPiece: 128 << 10))
    }

    @Test("C7 a foreground request that never ends does not stop the low classes")
    func hangingRequest() {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        #expect(window.answer(to: .background, at: at(99)) == .wait(until: at(100)))
        #expect(window.answer(to: .background, at: at(100)) == .alone(largestPiece: 128 << 10))
    }

    @Test("S4 beside the foreground one piece is under way, and a rest follows it")
    func alone() {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        window.pieceBegan(of: .background, at: at(150))
        #expect(window.answer(to: .background, at: at(151)) == .waitForEnd)
        #expect(window.answer(to: .utility, at: at(151)) == .alone(largestPiece: 256 << 10), "each class has its own")
        window.pieceEnded(of: .background, at: at(160))
        #expect(window.answer(to: .background, at: at(161)) == .wait(until: at(170)))
        #expect(window.answer(to: .background, at: at(170)) == .alone(largestPiece: 128 << 10))
    }

    @Test("C7 a slow piece is followed by a rest of bounded length")
    func slowPiece() {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        window.pieceBegan(of: .background, at: at(100))
        window.pieceEnded(of: .background, at: at(60_100))
        #expect(window.answer(to: .background, at: at(60_101)) == .wait(until: at(60_200)))
    }

    @Test("S4 after a pause the foreground has the disk to itself again")
    func newBurst() {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        window.foregroundEnded(at: at(500))
        #expect(window.answer(to: .background, at: at(600)) == .free)
        window.foregroundBegan(at: at(700))
        #expect(window.answer(to: .background, at: at(701)) == .wait(until: at(800)))
    }
}

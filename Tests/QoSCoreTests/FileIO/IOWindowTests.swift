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

    @Test("S4 C7 the kernel reads ahead for low classes only ten seconds after foreground I/O, or without any")
    func readAhead() {
        var window = IOWindow()
        #expect(window.allowsReadAhead(at: at(0)))
        window.foregroundBegan(at: at(1))
        #expect(!window.allowsReadAhead(at: at(60_000)))
        window.foregroundEnded(at: at(60_000))
        #expect(!window.allowsReadAhead(at: at(69_999)))
        #expect(window.allowsReadAhead(at: at(70_000)))
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
        #expect(window.answer(to: .utility, at: at(200)) == .alone(largestPiece: 128 << 10))
        #expect(window.answer(to: .background, at: at(200)) == .alone(largestPiece: 128 << 10))
    }

    @Test("C7 a foreground request that never ends does not stop the low classes")
    func hangingRequest() {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        #expect(window.answer(to: .background, at: at(99)) == .wait(until: at(100)))
        #expect(window.answer(to: .background, at: at(100)) == .alone(largestPiece: 128 << 10))
    }

    @Test("S4 beside the foreground each low class has one piece under way")
    func alone() {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        window.pieceBegan(of: .background, at: at(150))
        #expect(window.answer(to: .background, at: at(151)) == .waitForEnd)
        #expect(window.answer(to: .utility, at: at(151)) == .alone(largestPiece: 128 << 10), "each class has its own")
        window.pieceEnded(of: .background, bytes: 0, at: at(160))
        #expect(window.answer(to: .background, at: at(160)) == .alone(largestPiece: 128 << 10))
    }

    /// Runs pieces on a disk of a speed, and returns the limit of the size after them.
    private func limit(
        after pieces: Int, of qosClass: QoSClass, bytesPerMillisecond speed: Int, from size: Int? = nil
    ) throws -> Int {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        var now = at(200)
        for _ in 0..<pieces {
            let answer = window.answer(to: qosClass, at: now)
            guard case .alone(let largest) = answer else { throw Unexpected(answer: answer) }
            window.pieceBegan(of: qosClass, at: now)
            let bytes = size ?? largest
            now = now.advanced(byNanoseconds: Int64(Double(bytes) / Double(speed) * 1e6))
            window.pieceEnded(of: qosClass, bytes: bytes, at: now)
        }
        let answer = window.answer(to: qosClass, at: now)
        guard case .alone(let largest) = answer else { throw Unexpected(answer: answer) }
        return largest
    }

    private struct Unexpected: Error { let answer: IOWindow.Answer }

    @Test(
        "S4 pieces are as large as the disk does them in the time of the class",
        arguments: [
            (.background, 300, 256), (.background, 4096, 512), (.background, 1, 64), (.utility, 300, 576),
            (.utility, 4096, 1024), (.utility, 1, 64),
        ] as [(QoSClass, Int, Int)])
    func sizes(qosClass: QoSClass, kibibytesPerMillisecond speed: Int, kibibytes: Int) throws {
        #expect(try limit(after: 20, of: qosClass, bytesPerMillisecond: speed << 10) == kibibytes << 10)
    }

    @Test("S4 small pieces and calls without data say nothing about the speed", arguments: [0, 4096])
    func smallPieces(size: Int) throws {
        #expect(try limit(after: 20, of: .background, bytesPerMillisecond: 1, from: size) == 128 << 10)
    }

    @Test("C7 one slow piece does not make all later ones small")
    func slowPiece() {
        var window = IOWindow()
        window.foregroundBegan(at: at(0))
        var now: Int64 = 200
        for took in [1, 1, 1, 1, 60, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] as [Int64] {
            window.pieceBegan(of: .background, at: at(now))
            now += took
            window.pieceEnded(of: .background, bytes: 512 << 10, at: at(now))
        }
        #expect(window.answer(to: .background, at: at(now)) == .alone(largestPiece: 320 << 10))
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

import BenchCore
import Testing

@Suite struct ProcessorTimesTests {
    private func reading(idle: Int, wait: Int = 0) throws -> ProcessorTimes {
        let line = "50 0 50 \(idle) \(wait) 0 0 3 0 0"
        let text = "cpu  \(line)\ncpu0 \(line)\ncpu1 \(line)\nintr 5\n"
        return try #require(ProcessorTimes(text: text, ticksPerSecond: 100))
    }

    @Test("what others used is what was not idle and not our own")
    func others() throws {
        let (start, end) = (try reading(idle: 100), try reading(idle: 180, wait: 20))
        #expect(start.processors == 2)
        // 2 s on two processors: 4 s, of which 1 s idle, 2.5 s ours.
        #expect(abs(end.usedByOthers(since: start, seconds: 2, own: 2.5) - 0.25) < 1e-9)
        #expect(end.usedByOthers(since: start, seconds: 2, own: 3.5) == 0)
    }

    @Test("another format is refused", arguments: ["", "intr 1", "cpu  1 2 3", "cpu0 1 2 3 4 5 6 7 8"])
    func refused(text: String) {
        #expect(ProcessorTimes(text: text, ticksPerSecond: 100) == nil)
    }
}

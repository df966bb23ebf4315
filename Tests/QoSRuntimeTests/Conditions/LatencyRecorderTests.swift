import QoSCore
import QoSKernel
import Testing

@testable import QoSRuntime

@Suite("The recorder of latencies", .timeLimit(.minutes(5)))
struct LatencyRecorderTests {
    @Test("S4 what several tasks record is taken once, and nothing is lost")
    func concurrent() async {
        let recorder = LatencyRecorder()
        var taken = LatencyHistogram()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 as Range<UInt64> {
                group.addTask { for value in 0..<5_000 as Range<UInt64> { recorder.record(value << (4 * task)) } }
            }
            for _ in 0..<20 {
                taken.merge(recorder.take())
                await Task.yield()
            }
        }
        taken.merge(recorder.take())
        #expect(taken.count == 20_000)
        #expect(recorder.take().count == 0)
    }
}

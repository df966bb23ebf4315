import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("An executor with a thread of its own", .timeLimit(.minutes(1)))
struct ThreadExecutorTests {
    private static func sleeps(on executor: ThreadExecutor, _ begun: Gate? = nil) -> Task<Duration, Never> {
        Task.detached(executorPreference: executor) {
            await ContinuousClock().measure {
                begun?.open()
                try? await Task.sleep(for: .milliseconds(300))
            }
        }
    }

    @Test("after its end, sleeps that wait and later ones keep their time")
    func afterItsEnd() async {
        let executor = ThreadExecutor(name: "reserved")
        let begun = Gate()
        let waiting = Self.sleeps(on: executor, begun)
        await begun.passed()
        executor.end()
        let late = Self.sleeps(on: executor)
        for task in [waiting, late] { #expect(await task.value >= .milliseconds(300)) }
    }
}

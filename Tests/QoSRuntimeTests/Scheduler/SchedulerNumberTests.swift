import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The number of a scheduler")
struct SchedulerNumberTests {
    @Test("is free again when the initializer of the scheduler throws")
    func givenBack() async throws {
        for _ in 0..<64 {
            #expect(throws: QoSRuntimeError.self) {
                try QoSScheduler(configuration: .init(processors: 0, appliesKernelEffects: false))
            }
        }
        let number = SchedulerNumber()
        #expect((1...63).contains(number.value))
    }

    @Test("is not given to two")
    func different() {
        let first = SchedulerNumber()
        let second = SchedulerNumber()
        #expect(first.value != second.value)
    }
}

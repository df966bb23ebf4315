internal import ExampleSupport
internal import QoSCore
internal import QoSRuntime

/// Some tasks on the runtime, the rest of the process unchanged.
@main
struct PreferenceExample {
    static func main() async throws {
        let scheduler = try QoSScheduler()

        let index = scheduler.startTask(at: .background) {
            "the index is built on \(threadName())"
        }
        let answer = await scheduler.withQoS(.userInitiated) {
            await search()
        }
        print(answer)
        print(await index.value)
        print("this task runs on \(threadName()) again")

        let report = try await scheduler.shutdown()
        print("the scheduler ended, clean: \(report.isClean)")
    }

    @concurrent
    private static func search() async -> String {
        "the answer is found on \(threadName())"
    }
}

import QoSRuntime

/// Runs the same scenarios on Foundation and Dispatch, and on ours, and prints what each did: one row of a table for
/// each.
///
/// Nothing is timed: a row says at which level something ran, on which kind of thread, or what was refused.
@main
struct PlatformFacts {
    static func main() async throws {
        let scheduler = try QoSScheduler()
        print("| scenario | Dispatch, Foundation | ours |\n|---|---|---|")
        for scenario in Scenario.all(on: scheduler) { print(scenario.row) }
        try await scheduler.shutdown()
    }
}

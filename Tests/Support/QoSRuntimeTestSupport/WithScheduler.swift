package import QoSRuntime
internal import Testing

/// Makes a scheduler for a test, and checks that its end leaves nothing behind.
///
/// The default has no kernel effects, and no worker stands in for a job that holds its worker. So the tests see places
/// and times, and starve no other test. An end that leaves something behind is an issue at the caller's line.
package func withScheduler<Success>(
    _ configuration: QoSScheduler.Configuration = .init(
        processors: 2, appliesKernelEffects: false, detectsBlocking: false),
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column,
    _ body: (QoSScheduler) async throws -> Success
) async throws -> Success {
    let scheduler = try QoSScheduler(configuration: DeniedCalls.applied(to: configuration))
    do {
        let success = try await body(scheduler)
        let report = try await scheduler.shutdown(within: .seconds(60))
        // At the bottom of the kernel's order, beside other tests, a thread may not get a processor in time to end.
        if !configuration.appliesKernelEffects, !report.isClean {
            Issue.record(
                "the end of the scheduler left something behind: \(report)",
                sourceLocation: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
        }
        return success
    } catch {
        try await scheduler.shutdown(within: .zero)
        throw error
    }
}

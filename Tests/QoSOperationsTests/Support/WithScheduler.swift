import QoSCore
import QoSRuntime
import Testing

/// Makes a scheduler for a test, and sees to it that it ends without leaving anything behind.
///
/// Without kernel effects if nothing else is said: the tests are about what runs where and when, and starve nobody else.
func withScheduler<Success>(
    _ configuration: QoSScheduler.Configuration = .init(processors: 2, appliesKernelEffects: false),
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (QoSScheduler) async throws -> Success
) async throws -> Success {
    let scheduler = try QoSScheduler(configuration: configuration)
    do {
        let success = try await body(scheduler)
        let report = try await scheduler.shutdown(within: .seconds(60))
        #expect(report.isClean, "\(report)", sourceLocation: sourceLocation)
        return success
    } catch {
        try await scheduler.shutdown(within: .zero)
        throw error
    }
}

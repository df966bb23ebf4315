#if ServiceLifecycle
import Glibc
import Logging
import QoSCore
import QoSRuntime
import QoSServiceLifecycle
import QoSWorkloads
import ServiceLifecycle
import UnixSignals

/// Ignores its cancellation, and all that its host asks. Says when it begins, and when it is asked first.
struct Deaf: Workload {
    static let name: WorkloadName = "deaf"
    struct Parameters: Codable, Sendable {}

    func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
        Driver.say("ready=yes")
        while !context.shouldDefer { await Task.yield() }
        Driver.say("asked=yes")
        while true { await Task.yield() }
    }
}

/// A service that runs until its graceful shutdown, and then takes some turns to end.
private struct Graceful: Service {
    func run() async throws {
        let (shutdown, asked) = AsyncStream.makeStream(of: Never.self)
        try await withGracefulShutdownHandler {
            Driver.say("ready=yes")
            for await _ in shutdown {}
            Driver.say("asked=yes")
            for _ in 0..<100 { await Task.yield() }
            try Task.checkCancellation()
            Driver.say("ended=yes")
        } onGracefulShutdown: {
            asked.finish()
        }
    }
}

/// A program that hosts ``Deaf``: `process`, with the signals of `QoSProcess`; or `group`, with those of a
/// `ServiceGroup`. Its end has all the time in the world. With `recipe`, a group shuts ``Graceful`` down by the signals
/// of `QoSProcess`; with `both`, the group and the process want the same signals.
@main
struct Driver {
    static func main() {
        let kind = CommandLine.arguments.dropFirst().first
        guard let kind, ["process", "group", "recipe", "both"].contains(kind) else {
            say("usage: QoSWorkloadTestDriver process|group|recipe|both")
            exit(64)
        }
        var configuration = QoSProcess.Configuration(scheduler: .init(processors: 2), signalGrace: .seconds(36_000))
        if kind == "group" { configuration.endingSignals = [] }
        QoSProcess.run(configuration: configuration) {
            guard let scheduler = QoSProcess.scheduler else { return }
            if ["recipe", "both"].contains(kind) { return try await runGraceful(trapsSignals: kind == "both") }
            let (host, store) = try await host(on: scheduler)
            if kind == "process" { return try await host.run() }
            let logger = Logger(label: "driver") { _ in SwiftLogNoOpLogHandler() }
            let group = ServiceGroup(
                services: [host.service], gracefulShutdownSignals: [.sigterm], cancellationSignals: [.sigint],
                logger: logger)
            do { try await group.run() } catch is CancellationError {}
            say("leases=\(try await store.leases().count)")
            exit(0)
        }
    }

    private static func host(on scheduler: QoSScheduler) async throws -> (
        host: WorkloadHost, store: InMemoryWorkloadStore
    ) {
        let store = InMemoryWorkloadStore()
        var configuration = WorkloadHost.Configuration()
        configuration.endGrace = .seconds(36_000)
        let host = try WorkloadHost(
            store: store, scheduler: scheduler, workloads: [Deaf()], configuration: configuration)
        _ = try await host.submit(Deaf.self, .init())
        return (host, store)
    }

    private static func runGraceful(trapsSignals: Bool) async throws {
        let logger = Logger(label: "driver") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(
            services: [Graceful()], gracefulShutdownSignals: trapsSignals ? [.sigterm, .sigint] : [], logger: logger)
        if trapsSignals { try await group.run() } else { try await group.runUntilCancelled() }
        say("cancelled=\(Task.isCancelled)")
    }

    /// Prints a finding, at once.
    static func say(_ finding: String) {
        print(finding)
        fflush(nil)
    }
}
#else
/// Without the trait there is nothing to drive.
@main
struct Driver {
    static func main() {}
}
#endif

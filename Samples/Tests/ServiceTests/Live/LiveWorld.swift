import Foundation
import Indexing
import QoSCore
import QoSRuntime
import QoSWorkloads
import SampleTestSupport
import Synchronization

@testable import qos_service

/// Works on files until its gate opens, or fails.
struct Steps: Workload {
    static let name: WorkloadName = "thumbnails"
    struct Parameters: Codable, Sendable { var folder: String }
    struct Checkpoint: Codable, Sendable { var done = 0 }
    let gate: Gate

    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
        let checkpoint = Checkpoint(done: 37)
        context.report(37, of: 100, .files)
        try await context.save(checkpoint)
        while true {
            let turn = gate.turn
            try await context.breathe()
            if gate.isOpen { break }
            await context.withDeferralHandler {
                await gate.wait(after: turn)
            } onRequest: {
                gate.wake()
            }
        }
        return .finished
    }
}

/// The same under another name, so that pages show several.
struct Backup: Workload {
    static let name: WorkloadName = "backup"
    typealias Parameters = Steps.Parameters
    typealias Checkpoint = Steps.Checkpoint
    let steps: Steps

    func run(_ parameters: Parameters, in context: WorkloadContext<Checkpoint>) async throws -> WorkloadOutcome {
        try await steps.run(parameters, in: context)
    }
}

/// Fails in each attempt.
struct Broken: Workload {
    static let name: WorkloadName = "mail <b>digest</b>"
    typealias Parameters = Steps.Parameters
    struct Failure: Error, CustomStringConvertible {
        let description = "<img src=x onerror=document.title='broken'> \u{202E}refused"
    }

    func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
        throw Failure()
    }
}

/// Fails in each attempt, with an ordinary error.
struct Digest: Workload {
    static let name: WorkloadName = "digest"
    typealias Parameters = Steps.Parameters
    struct Failure: Error, CustomStringConvertible { let description = "the mail server refused the connection" }

    func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
        throw Failure()
    }
}

/// Opens once.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var turn = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.isOpen } }
    /// Grows with each call of `wake` and `open`.
    var turn: Int { state.withLock { $0.turn } }

    func open() {
        state.withLock { $0.isOpen = true }
        wake()
    }

    /// Makes all who wait look again.
    func wake() {
        let waiters = state.withLock { state in
            state.turn += 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Suspends until the turn is another one. It takes no notice of a cancellation.
    func wait(after turn: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.turn == turn else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}

/// A service in this process, with workloads that a test controls. Its tasks run on threads of its own, because tests
/// block theirs.
final class LiveWorld: Sendable {
    let world: IndexWorld
    let host: WorkloadHost
    let governor: ServiceGovernor
    /// As if the service ran for five minutes.
    let requests = RequestHistory(start: .now - RequestHistory.step * RequestHistory.length)
    let gate = Gate()
    let token = "0123456789abcdefABCDEF"
    let port: Int
    /// The clients of `/events`.
    let live: LiveBoard
    private let index: SearchIndex
    private let scheduler: QoSScheduler
    private let tasks: [Task<Void, any Error>]

    /// Starts the service.
    ///
    /// - Parameters:
    ///   - isOpen: Whether it answers clients without the token.
    ///   - writeLimit: The time after which a client that takes nothing is cut off.
    ///   - backup: The backups whose routes it has.
    ///   - more: Further workloads.
    init(
        isOpen: Bool = false, writeLimit: Duration? = nil, backup: BackupSettings? = nil, more: [any Workload] = []
    ) async throws {
        world = try IndexWorld()
        index = try world.indexed()
        scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        governor = try ServiceGovernor(governing: scheduler, GovernorSettings(), folders: [world.state.path])
        let runs = RunHistory()
        var configuration = WorkloadHost.Configuration()
        configuration.conditions = MonitoredConditions(governor.monitor)
        configuration.patience = .milliseconds(100)
        configuration.endGrace = .zero
        configuration.places = [.background: 1]
        configuration.addObserver(runs)
        let steps = Steps(gate: gate)
        let store = InMemoryWorkloadStore()
        let host = try WorkloadHost(
            store: store, on: scheduler,
            workloads: [steps, Backup(steps: steps), Broken(), Digest()] + more, configuration: configuration)
        self.host = host
        var settings = ServiceSettings(folder: world.folder.path, directory: world.directory)
        settings.address = .network(host: "127.0.0.1", port: 0)
        if let writeLimit { settings.requestTime = writeLimit }
        let connections = Connections(limit: 64)
        settings.backup = backup
        let restoring = backup.map { RestoreRequests($0, host: host) }
        let routes = ServiceRoutes(
            lanes: try SearchLanes(index: index, processors: 2, limits: SearchLimits()),
            connections: connections,
            meter: ThroughputMeter(),
            policy: AccessPolicy(token: isOpen ? nil : token, actionToken: token),
            metrics: nil,
            workloads: WorkloadRoutes(
                host: host, records: { try await store.records(matching: $0) }, requests: requests, runs: runs,
                governor: governor, settings: settings),
            files: FileRoutes(settings, synced: SyncedFiles(nil), connections: connections),
            restores: RestoreRoutes(restoring: restoring, host: host, submitted: { _, _ in runs.touch() }),
            owner: OwnerRoutes(
                settings: settings, index: index, host: host,
                activity: ActivityLog(directory: world.directory, log: ServiceServer.logger(settings)),
                conflicts: OpenConflicts(nil, served: settings.folder), restoring: restoring),
            workloadReport: { .init() },
            takeMetrics: {},
            governor: governor
        )
        live = routes.workloads.live
        let (listening, started) = AsyncStream.makeStream(of: Int?.self)
        let server = ServiceServer(routes, settings: settings) { started.yield($0) }
        tasks = [
            scheduler.startTask(at: .userInitiated) { try await server.run() },
            scheduler.startTask(at: .userInitiated) { try await routes.workloads.live.run() },
            scheduler.startTask(at: .userInitiated) { try await host.run() },
        ]
        var port: Int?
        for await number in listening {
            port = number
            break
        }
        self.port = port ?? 0
    }

    /// The address of the page, with the token.
    var address: String { "http://127.0.0.1:\(port)/?token=\(token)" }
    /// The address of the view of the workloads.
    var workAddress: String { "http://127.0.0.1:\(port)/?view=work" }

    /// Ends everything.
    func stop() async throws {
        gate.open()
        governor.monitor.overrides.thermal = nil
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        try await scheduler.shutdown(within: .seconds(60))
        try index.close()
    }

    /// Suspends until an item has a state.
    func wait(for state: WorkloadState, of item: WorkloadItem) async throws {
        while try await host.snapshot(of: item.id)?.record.state != state { await Task.yield() }
    }
}

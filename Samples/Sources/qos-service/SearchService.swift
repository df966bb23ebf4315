internal import CoreMetrics
internal import Foundation
internal import Glibc
internal import Indexing
internal import NIOCore
internal import QoSObservability
internal import QoSRuntime
internal import QoSSQLiteStore
internal import SampleCommand
internal import SyncAgent

/// The whole of the service: the index, the passes over it, the server and the terminal.
struct SearchService: Sendable {
    let settings: ServiceSettings

    init(_ settings: ServiceSettings) {
        self.settings = settings
    }

    /// Runs until it is cancelled or fails. In both cases the index is closed in order.
    func run() async -> ExitStatus {
        do {
            // All files of the process are for this user alone.
            umask(0o077)
            await openDescriptorsOfDispatch()
            var options = IndexSettings()
            options.substrings = settings.substrings
            options.stemming = settings.stemming
            let index = try SearchIndex(folder: settings.folder, directory: settings.directory, options: options)
            let status: ExitStatus
            do {
                try await serve(index)
                status = .success
            } catch is CancellationError {
                status = .success
            } catch {
                complain(describe(error))
                status = .failure
            }
            try index.close()
            return status
        } catch {
            complain("\(error)")
            return .failure
        }
    }

    /// Serves requests and indexes. Returns or throws when one of the parts has ended, and all have.
    private func serve(_ index: SearchIndex) async throws {
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        let meter = ThroughputMeter()
        let token = try AccessToken.load(settings.tokenPath)
        let policy = policy(token)
        let (listening, started) = AsyncStream.makeStream(of: Int?.self)
        let governor = try governor()
        let workloadMetrics = WorkloadMetrics(metrics)
        let runs = RunHistory()
        let store = try WorkloadStoreFactory.store(in: settings.directory) { StandardStream.errors.write($0 + "\n") }
        defer { try? store.close() }
        let killPoint = KillPoint("QOS_SERVICE_KILL_AT", in: ProcessInfo.processInfo.environment)
        let log = ServiceServer.logger(settings)
        let activity = ActivityLog(directory: settings.directory, log: log)
        let conflicts = OpenConflicts(settings.sync, served: settings.folder)
        let (saves, saved) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let hosted = HostedWork(
            settings, killPoint: killPoint, activity: activity, conflicts: conflicts, saved: { saved.yield() })
        if settings.sync?.agent?.isOpenToOthers == true {
            complain(
                "Warning: without TLS the network sees the token and all files of the sync. Use https, or a tunnel.")
        }
        let workloads = try ServiceWorkloads(
            index: index,
            interval: settings.rescanInterval,
            hosted: hosted,
            conflicts: conflicts,
            killPoint: killPoint,
            store: store,
            on: workloadScheduler(),
            governor: governor,
            observers: [runs, workloadMetrics, WorkloadLog(log), activity]
        )
        let host = workloads.host
        let terminal = ProgressReporter(index: index, meter: meter, isQuiet: settings.isQuiet) {
            try? await host.snapshot(limit: 100)
        }
        let restoring = settings.backup.map { RestoreRequests($0, host: host) }
        let connections = Connections(limit: ConnectionLimit.affordable(settings.connections))
        let routes = ServiceRoutes(
            lanes: try SearchLanes(
                index: index,
                processors: processorCount(),
                limits: SearchLimits(time: settings.searchTime),
                latencies: { governor?.monitor.recordLatency($0) }
            ),
            connections: connections,
            meter: meter,
            policy: policy,
            metrics: metrics,
            workloads: WorkloadRoutes(
                host: host,
                records: { try await store.records(matching: $0) },
                requests: RequestHistory(),
                runs: runs,
                governor: governor,
                settings: settings
            ),
            files: FileRoutes(settings, synced: hosted.files, connections: connections),
            restores: RestoreRoutes(
                restoring: restoring, host: host,
                submitted: { item, text in
                    activity.note(restore: item, of: text)
                    runs.touch()
                }),
            owner: OwnerRoutes(
                settings: settings, index: index, host: host, activity: activity, conflicts: conflicts,
                restoring: restoring),
            workloadReport: { await workloads.report },
            takeMetrics: {
                if let snapshot = try? await host.snapshot() { workloadMetrics.record(snapshot) }
            },
            governor: governor
        )
        let server = ServiceServer(routes, settings: settings) { started.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask { try await routes.workloads.live.run() }
            group.addTask {
                for await _ in saves { restoring?.noteChange() }
                try Task.checkCancellation()
            }
            group.addTask {
                // It ends by cancellation only. Otherwise it could end before the server's error, and the service ends
                // with the first end.
                for await port in listening {
                    // The last line reports the end of the pass, so it comes after the pass.
                    defer { terminal.finish() }
                    terminal.announce("Listening on \(place(port: port, policy))")
                    terminal.announce("Changes of workloads need the token in \(settings.tokenPath)")
                    async let report: Void = terminal.run()
                    try await workloads.run()
                    try await report
                }
            }
            defer {
                // A pass in a stopped class could not end.
                governor?.monitor.stop()
                group.cancelAll()
            }
            try await group.next()
        }
    }

    /// Makes the governor of the process's scheduler; nil if there is none, or if it is switched off.
    private func governor() throws -> ServiceGovernor? {
        guard settings.governor.isOn, let scheduler = QoSProcess.scheduler else { return nil }
        return try ServiceGovernor(
            governing: scheduler,
            settings.governor,
            folders: [settings.directory]
        )
    }

    /// Returns the policy that decides which clients are answered.
    private func policy(_ token: String) -> AccessPolicy {
        var policy = AccessPolicy()
        policy.actionToken = token
        policy.cookie = "qos-service-" + IndexLocation.hash(settings.directory)
        policy.hosts = Set(settings.allowedHosts.map { $0.lowercased() })
        switch settings.address {
        case .socket:
            policy.isReachableByNetwork = false
        case .network(let host, _):
            policy.hosts.insert(host.lowercased())
            if settings.access == .token { policy.token = token }
        }
        return policy
    }

    /// Returns the address to open.
    private func place(port: Int?, _ policy: AccessPolicy) -> String {
        switch settings.address {
        case .socket(let path):
            return path
        case .network(let host, let wanted):
            let name = host.contains(":") ? "[\(host)]" : host
            return "http://\(name):\(port ?? wanted)/" + (policy.token.map { "?token=\($0)" } ?? "")
        }
    }

    private func describe(_ error: any Error) -> String {
        guard let failure = error as? IOError, case .network(let host, let port) = settings.address else {
            return "\(error)"
        }
        return switch failure.errnoCode {
        case EADDRINUSE:
            "Port \(port) on \(host) is taken. Stop the program that listens there, or choose another port with --port."
        case EACCES:
            "Port \(port) is not allowed for this user. Choose one above 1023 with --port."
        default:
            "The service cannot listen on \(host):\(port): \(failure). Choose another --host or --port."
        }
    }
}

internal import Backup
internal import HTTPTypes
internal import Hummingbird
internal import QoSCore
internal import QoSWorkloads
internal import TreeScan

/// The routes of the repository: the snapshots, and restores.
struct RestoreRoutes: Sendable {
    /// The path of restores.
    static let path = "/restore"

    /// Nil if the service makes no backups.
    let restoring: RestoreRequests?
    let host: WorkloadHost
    /// Notes a restore that was submitted, with what it writes, for people.
    let submitted: @Sendable (WorkloadItemID, String) -> Void

    /// Adds the routes.
    func add(to router: Router<ServiceContext>) {
        router.get("/snapshots") { _, context in
            guard context.mayAct else { throw Refusal.noToken }
            let restoring = try configuredRequests()
            return try await Self.explaining {
                let (snapshots, problems) = try await runTask(at: .userInitiated) { try restoring.snapshots() }
                return try JSONResponse.make(SnapshotResponse(snapshots, problems: problems))
            }
        }
        router.post("/restore") { request, context in
            let restoring = try configuredRequests()
            return try await Self.explaining { try await restore(request, context, restoring) }
        }
    }

    private func configuredRequests() throws -> RestoreRequests {
        if let restoring { return restoring }
        throw Self.noRepository
    }

    /// The refusal of a service without backups.
    static let noRepository = Refusal(
        status: .notFound, message: "This service has no repository. Start it with --backup-repository.")

    private func restore(_ request: Request, _ context: ServiceContext, _ restoring: RestoreRequests) async throws
        -> Response
    {
        let parameters = try Parameters(request, context)
        let example = "/restore?snapshot=latest&target=FOLDER"
        guard let snapshot = parameters.snapshot else { throw ParameterError.missing("snapshot", example: example) }
        guard let target = try PathText.path("target", of: request), target != .root else {
            throw ParameterError.missing("target", example: example)
        }
        let path = try PathText.path("path", of: request) ?? .root
        let replaces = try parameters.isReplacing()
        let item = try await runTask(at: .userInitiated) {
            try await restoring.submit(snapshot, path: path, target: target, replaces: replaces)
        }
        let what = path == .root ? "all of a snapshot" : path.display
        submitted(item.id, "\(what) to \(target.display), below the folder for restores")
        guard let made = try await host.snapshot(of: item.id) else { throw WorkloadStoreError.unknownItem(item.id) }
        var response = try JSONResponse.make(
            WorkloadResponse(made, pauses: [:], isTrusted: true, isWhole: true), status: .accepted)
        response.headers[.location] = "/workloads/\(item.id.rawValue)"
        return response
    }

    /// Turns errors of the repository into answers.
    private static func explaining(_ body: () async throws -> Response) async throws -> Response {
        do { return try await body() } catch { throw explained(error) }
    }

    /// Returns the answer to an error of the repository; other errors as they are.
    static func explained(_ error: any Error) -> any Error {
        switch error {
        case is BackupError, is PassphraseFile.Failure:
            Refusal(status: .serviceUnavailable, message: "\(error)", fields: [.retryAfter: "10"])
        default: error
        }
    }
}

internal import Backup
internal import HTTPTypes
internal import Hummingbird
internal import Indexing
internal import QoSCore
internal import QoSWorkloads
internal import Sync
internal import TreeScan

/// The routes of what an owner asks: the state at a glance, what was done, conflicts, and earlier versions of files.
struct OwnerRoutes: Sendable {
    /// The path of choices.
    static let conflictPath = "/conflicts"
    /// The path of downloads from snapshots.
    static let filePath = "/snapshots/file"
    /// The largest number of entries, changes and snapshots in an answer.
    private static let limit = 2000
    private static let snapshotLimit = 200

    let settings: ServiceSettings
    let index: SearchIndex
    let host: WorkloadHost
    let activity: ActivityLog
    let conflicts: OpenConflicts
    /// Nil if the service makes no backups.
    let restoring: RestoreRequests?

    /// Adds the routes.
    func add(to router: Router<ServiceContext>) {
        router.get("/home") { _, context in try await home(context) }
        router.get("/activity") { _, context in
            guard context.mayAct else { throw Refusal.noToken }
            let memory = activity.memory
            return try JSONResponse.make(
                ActivityResponse(entries: memory.entries, skipped: memory.skipped, unwatched: activity.unwatched))
        }
        router.get("/conflicts") { _, context in
            guard context.mayAct else { throw Refusal.noToken }
            let shown = try await runTask(at: .userInitiated) { [conflicts] in conflicts.shown() }
            return try JSONResponse.make(
                ConflictsResponse(
                    folder: conflicts.folder ?? "",
                    conflicts: shown.map { copy, seen in
                        .init(
                            name: PathText.encoded(copy.path),
                            current: conflicts.isServed ? PathText.encoded(copy.original) : nil,
                            copy: copy.path.display, original: copy.original.display,
                            side: copy.side.rawValue, date: copy.date, seen: seen)
                    }))
        }
        router.get("/conflicts/text") { request, context in
            guard context.mayAct else { throw Refusal.noToken }
            let path = try Self.path(of: request)
            let versions = try await Self.explaining { [conflicts] in
                try await runTask(at: .userInitiated) { try conflicts.versions(of: path) }
            }
            return try JSONResponse.make(
                ConflictTextResponse(current: versions.current, copy: versions.copy, isCut: versions.isCut))
        }
        router.post("/conflicts") { request, context in
            let path = try Self.path(of: request)
            let parameters = try Parameters(request, context)
            let (text, seen) = (parameters.keep ?? "", parameters.seen)
            guard let choice = OpenConflicts.Choice(rawValue: text) else {
                throw Refusal(
                    status: .badRequest, message: "keep is \"\(text.prefix(40))\". Write current, copy or both.")
            }
            let message = try await Self.explaining { [conflicts] in
                try await runTask(at: .userInitiated) { try conflicts.choose(choice, for: path, seen: seen) }
            }
            return try JSONResponse.make(DoneResponse(done: message))
        }
        router.get("/snapshots/files") { request, context in
            let (reader, snapshot) = try await snapshot(request, context)
            let path = try PathText.path("path", of: request) ?? .root
            return try await Self.explaining {
                let entries = try await runTask(at: .userInitiated) { try await reader.entries(of: path, in: snapshot) }
                return try JSONResponse.make(
                    SnapshotFolderResponse(
                        folder: path.display,
                        entries: entries.prefix(Self.limit).map { .init($0, at: path.appending($0.name)) },
                        complete: entries.count <= Self.limit))
            }
        }
        router.get("/snapshots/file") { request, context in
            let (reader, snapshot) = try await snapshot(request, context)
            let path = try Self.path(of: request)
            return try await Self.explaining {
                let node = try await runTask(at: .userInitiated) { try await reader.entry(at: path, in: snapshot) }
                return try Self.download(node, reader)
            }
        }
        router.get("/snapshots/changes") { request, context in
            let (reader, new) = try await snapshot(request, context)
            let path = try PathText.path("path", of: request) ?? .root
            let name = try Parameters(request, context).before ?? ""
            return try await Self.explaining {
                let (changes, areAll) = try await runTask(at: .userInitiated) {
                    let old = try restoring?.snapshot(named: name) ?? new
                    return try await reader.changes(from: old, to: new, below: path, limit: Self.limit)
                }
                return try JSONResponse.make(
                    SnapshotChangesResponse(
                        changes: changes.map { change in
                            var (isFolder, size): (Bool, Int64) = (false, 0)
                            if case .folder = change.node.content { isFolder = true }
                            if case .file(let content) = change.node.content { size = content.size }
                            return .init(path: change.path.display, kind: change.kind, isFolder: isFolder, size: size)
                        }, complete: areAll))
            }
        }
        router.get("/versions") { request, context in
            guard context.mayAct else { throw Refusal.noToken }
            guard let restoring else { throw RestoreRoutes.noRepository }
            let path = try Self.path(of: request)
            return try await Self.explaining { [settings] in
                try await runTask(at: .userInitiated) {
                    try JSONResponse.make(try await Self.versions(of: path, in: settings.folder, restoring))
                }
            }
        }
    }

    /// The state of the sync in the text form of Prometheus.
    var metrics: String {
        guard settings.sync != nil else { return "" }
        let gauges = [
            ("qos_service_sync_open_conflicts", "gauge", conflicts.conflicts.count),
            ("qos_service_sync_skipped_entries", "gauge", activity.memory.skippedCount),
            ("qos_service_sync_conflicts_total", "counter", activity.conflictCount),
        ]
        return gauges.map { IndexMetrics.metric($0.0, $0.1, [("", Double($0.2))]) }.joined()
    }

    private struct DoneResponse: Encodable {
        let done: String
    }

    private func home(_ context: ServiceContext) async throws -> Response {
        let (restoring, settings) = (restoring, settings)
        let snapshots = (try? await runTask(at: .userInitiated) { try restoring?.recentSnapshots() }) ?? []
        let response = HomeResponse(
            index.status, activity, snapshots: snapshots, conflicts: conflicts.conflicts.count, settings: settings,
            snapshot: try? await host.snapshot(limit: 200), isTrusted: context.mayAct)
        return try JSONResponse.make(response)
    }

    private static func path(of request: Request) throws -> RelativePath {
        guard let path = try PathText.path("path", of: request), path != .root else {
            throw ParameterError.missing("path", example: "path=FOLDER/FILE")
        }
        return path
    }

    private func snapshot(_ request: Request, _ context: ServiceContext) async throws -> (SnapshotReader, Snapshot) {
        guard context.mayAct else { throw Refusal.noToken }
        guard let restoring else { throw RestoreRoutes.noRepository }
        guard let name = try Parameters(request, context).snapshot else {
            throw ParameterError.missing("snapshot", example: "snapshot=latest")
        }
        return try await Self.explaining {
            try await runTask(at: .userInitiated) { (try restoring.reader(), try restoring.snapshot(named: name)) }
        }
    }

    /// Looks for a file of the service's folder in the snapshots, the last ones first.
    private static func versions(
        of path: RelativePath, in folder: String, _ restoring: RestoreRequests
    ) async throws -> VersionsResponse {
        let whole = Array(folder.utf8) + [UInt8(ascii: "/")] + path.bytes
        let reader = try restoring.reader()
        let snapshots = try restoring.snapshots().snapshots.reversed()
        var versions: [VersionsResponse.Version] = []
        var last: TreeNode.Content?
        var count = 0
        for snapshot in snapshots {
            let root = Array(snapshot.base.utf8) + (snapshot.base.hasSuffix("/") ? [] : [UInt8(ascii: "/")])
            guard whole.starts(with: root) else { continue }
            count += 1
            guard count <= snapshotLimit else { break }
            let place = RelativePath(bytes: Array(whole.dropFirst(root.count)))
            guard let node = try? await reader.entry(at: place, in: snapshot), case .file(let content) = node.content
            else {
                try Task.checkCancellation()
                last = nil
                continue
            }
            if last == node.content {
                versions[versions.count - 1].snapshots += 1
                continue
            }
            last = node.content
            versions.append(
                .init(
                    snapshot: snapshot.id?.description ?? "", path: PathText.encoded(place),
                    saved: (Double(snapshot.time) / 1e6).rounded() / 1000,
                    modified: (Double(node.modified) / 1e6).rounded() / 1000, size: content.size, snapshots: 1))
        }
        return VersionsResponse(versions: versions, complete: count <= snapshotLimit)
    }

    private static func download(_ node: TreeNode, _ reader: SnapshotReader) throws -> Response {
        guard case .file(let content) = node.content else {
            throw Refusal(status: .forbidden, message: "This is no regular file. Restore it instead.")
        }
        let name = PathText.encoded(RelativePath(bytes: node.name))
        return Response(
            status: .ok,
            headers: [
                .contentType: "application/octet-stream",
                .contentDisposition: "attachment; filename*=UTF-8''\(name)",
            ],
            body: ResponseBody(contentLength: Int(content.size)) { writer in
                // Pieces of a megabyte: the writer waits for a slow client.
                var pieces = reader.pieces(of: content)
                while let piece = try await pieces.next() { try await writer.write(ByteBuffer(bytes: piece)) }
                try await writer.finish(nil)
            })
    }

    /// Turns errors of folders and of the repository into answers.
    private static func explaining<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let failure as FileSystemFailure {
            throw Refusal(failure)
        } catch let error as TreeScanError {
            throw Refusal(status: .serviceUnavailable, message: "\(error)", fields: [.retryAfter: "10"])
        } catch let error as SnapshotReader.Missing {
            throw Refusal(status: .notFound, message: "\(error)")
        } catch {
            throw RestoreRoutes.explained(error)
        }
    }
}

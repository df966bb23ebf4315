internal import HTTPTypes
internal import Hummingbird
internal import Indexing

/// The routes of the service.
struct ServiceRoutes: Sendable {
    let lanes: SearchLanes
    let connections: Connections
    let meter: ThroughputMeter
    let policy: AccessPolicy
    let metrics: PrometheusMetrics?
    let workloads: WorkloadRoutes
    let files: FileRoutes
    let restores: RestoreRoutes
    let owner: OwnerRoutes
    /// The state of the workloads, for people.
    let workloadReport: @Sendable () async -> ServiceWorkloads.Report
    /// The metrics that are taken only when somebody asks.
    let takeMetrics: @Sendable () async -> Void
    var governor: ServiceGovernor?

    /// Whether every client may see paths of this machine.
    private var showsPaths: Bool { policy.token != nil || !policy.isReachableByNetwork }

    /// Returns the routes with the middleware that every request passes.
    func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self, options: [.autoGenerateHeadEndpoints])
        // In this order: a refused request must not become a metric's label. There may be as many such labels as there
        // are methods.
        router.add(middleware: AnswerMiddleware(showsPaths: showsPaths))
        router.add(middleware: AccessMiddleware(policy: policy))
        router.add(middleware: MetricsMiddleware())
        for asset in PageAsset.allCases {
            router.get(asset.path) { request, _ in asset.response(accepting: request.headers[.acceptEncoding]) }
        }
        router.get("/favicon.ico") { _, _ in Response(status: .noContent) }
        router.get("/healthz") { _, _ in JSONResponse.data("ok\n".utf8, type: "text/plain; charset=utf-8") }
        router.get("/search") { try await search($0, $1) }
        router.get("/file") { try await file($0, $1) }
        workloads.add(to: router)
        files.add(to: router)
        restores.add(to: router)
        owner.add(to: router)
        router.get("/status") { _, _ in
            let report = await workloadReport()
            return try JSONResponse.make(
                StatusResponse(
                    lanes.index.status, rate: meter.rate, showsPaths: showsPaths, governor: governor, workloads: report)
            )
        }
        router.get("/metrics") { _, _ in
            await takeMetrics()
            let text =
                (metrics?.text ?? "") + IndexMetrics.text(lanes.index.status, rate: meter.rate) + owner.metrics
            return JSONResponse.data(text.utf8, type: "text/plain; version=0.0.4; charset=utf-8")
        }
        return router
    }

    private func search(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let start = ContinuousClock.now
        let query = try Parameters(request, context).query()
        let folder = try PathText.folder("fresh", of: request)
        let patience = try Parameters(request, context).patience()
        var refresh: SearchIndex.RefreshReport?
        if let folder {
            refresh = try await connections.whileOpen(context.channel) {
                try await lanes.refresh(folder, within: patience)
            }
        }
        let searchStart = ContinuousClock.now
        let answer = try await connections.whileOpen(context.channel) { try await lanes.search(query) }
        // The wait for a fresh folder is asked for. It says nothing about the latency of searches.
        workloads.requests.record(ContinuousClock.now - searchStart)
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        return try JSONResponse.make(SearchResponse(query, answer, refresh, milliseconds: milliseconds))
    }

    private func file(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let start = ContinuousClock.now
        let parameters = try Parameters(request, context)
        let (id, lines) = try parameters.excerpt()
        let path = try PathText.path("path", of: request)
        guard let file = path.map(SearchLanes.File.path) ?? id.map(SearchLanes.File.number) else {
            throw ParameterError.missing("path", example: "/file?path=FOLDER/FILE")
        }
        // A query that is none marks nothing: the file is what counts here.
        let query = try? parameters.query()
        let excerpt = try await connections.whileOpen(context.channel) {
            try await lanes.excerpt(of: file, lines: lines, marking: query)
        }
        workloads.requests.record(ContinuousClock.now - start)
        guard let excerpt else {
            throw Refusal(status: .notFound, message: "The index has no text of this file any more. Search again.")
        }
        return try JSONResponse.make(FileResponse(excerpt))
    }
}

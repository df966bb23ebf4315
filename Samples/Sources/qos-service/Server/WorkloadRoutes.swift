internal import HTTPTypes
internal import Hummingbird
internal import QoSCore
internal import QoSWorkloads

/// The routes of the workloads: the list, an item, its actions, and the live events.
struct WorkloadRoutes: Sendable {
    /// The number of ended items that lists show.
    private static let endedLimit = 20
    /// The longest list of items in an answer.
    private static let listLimit = 1000
    /// The number of items that the live events show. So the first state has some sixty kilobytes.
    private static let liveLimit = 100
    /// The number of items that a search looks at.
    private static let lookLimit = 50_000

    let host: WorkloadHost
    /// Reads the store.
    let records: @Sendable (WorkloadQuery) async throws -> [WorkloadRecord]
    let requests: RequestHistory
    let runs: RunHistory
    let governor: ServiceGovernor?
    let latencyLimit: Duration
    let live: LiveBoard

    /// Makes the routes, and the board of the live events.
    ///
    /// - Parameters:
    ///   - host: The host of the workloads.
    ///   - records: Reads its store.
    ///   - requests: The latencies of requests.
    ///   - runs: The attempts of the host; one of its observers.
    ///   - governor: Knows the state of the machine.
    ///   - settings: The settings of the service.
    init(
        host: WorkloadHost,
        records: @escaping @Sendable (WorkloadQuery) async throws -> [WorkloadRecord],
        requests: RequestHistory,
        runs: RunHistory,
        governor: ServiceGovernor?,
        settings: ServiceSettings
    ) {
        self.host = host
        self.records = records
        self.requests = requests
        self.runs = runs
        self.governor = governor
        latencyLimit = settings.governor.latencyLimit
        let latencyLimit = latencyLimit
        live = LiveBoard(
            limit: min(16, settings.connections / 4), writeLimit: settings.requestTime, history: runs
        ) { isTrusted in
            try await Self.picture(
                host, requests, runs, governor, latencyLimit, limit: Self.liveLimit, isTrusted: isTrusted)
        }
    }

    /// Adds the routes.
    func add(to router: Router<ServiceContext>) {
        router.get("/workloads") { try await list($0, $1) }
        router.get("/items") { try await items($0, $1) }
        router.get("/workloads/:id") { try await detail($0, $1) }
        router.post("/workloads/:id/:action") { try await act($0, $1) }
        router.get("/events") { try events($0, $1) }
    }

    private static func picture(
        _ host: WorkloadHost,
        _ requests: RequestHistory,
        _ runs: RunHistory,
        _ governor: ServiceGovernor?,
        _ latencyLimit: Duration,
        limit: Int,
        isTrusted: Bool
    ) async throws -> LiveResponse {
        // What memory still has of a damaged store may be wrong.
        if let failure = host.storeFailure, StoreTrouble.isDamage(failure) { throw failure }
        return LiveResponse(
            try await host.snapshot(limit: limit, ended: endedLimit), requests: requests, runs: runs,
            conditions: governor.map { ConditionResponse.list($0.monitor.conditions, latencyLimit: latencyLimit) },
            isTrusted: isTrusted)
    }

    private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let limit = try Parameters(request, context).itemLimit(1...Self.listLimit) ?? Self.liveLimit
        return try JSONResponse.make(
            try await Self.picture(
                host, requests, runs, governor, latencyLimit, limit: limit, isTrusted: context.mayAct))
    }

    /// An answer of `/items`.
    private struct ItemsResponse: Encodable {
        let items: [WorkloadResponse]
        /// The parameter `after` of the next page; nil if there is none.
        let next: Int64?
    }

    /// Lists items by their numbers, with a state and a text: also those that the live events leave out.
    private func items(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let parameters = try Parameters(request, context)
        let limit = try parameters.itemLimit(1...Self.listLimit) ?? Self.liveLimit
        let text = (parameters.find ?? "").lowercased()
        guard text.utf8.count <= 200 else { throw ParameterError.tooLong("find", limit: 200) }
        var query = WorkloadQuery(
            states: try parameters.itemState().map { [$0] } ?? Set(WorkloadState.allCases.filter { !$0.isEnded }),
            after: try parameters.itemsAfter(), limit: min(500, limit))
        if text.count > 0 { query.limit = 500 }
        // A running item that pauses counts as deferred.
        if query.states == [.deferred] { query.states.insert(.running) }
        let wantsDeferred = try parameters.itemState() == .deferred
        var found: [WorkloadSnapshot.Item] = []
        var looked = 0
        var isAtEnd = false
        while found.count < limit, looked < Self.lookLimit, !isAtEnd {
            let page = try await records(query)
            isAtEnd = page.count < query.limit
            looked += page.count
            for record in page {
                query.after = record.id
                guard Self.matches(record, text, isTrusted: context.mayAct),
                    let item = try await host.snapshot(of: record.id), !wantsDeferred || item.isDeferred
                else { continue }
                found.append(item)
                if found.count == limit {
                    if record.id != page.last?.id { isAtEnd = false }
                    break
                }
            }
        }
        let pauses = try await host.snapshot(limit: 1).pauses
        return try JSONResponse.make(
            ItemsResponse(
                items: found.map { WorkloadResponse($0, pauses: pauses, isTrusted: context.mayAct) },
                next: isAtEnd ? nil : query.after?.rawValue))
    }

    /// Whether the name, number, label or reason of an item contains a text, as far as the client may see them.
    private static func matches(_ record: WorkloadRecord, _ text: String, isTrusted: Bool) -> Bool {
        guard !text.isEmpty else { return true }
        let label = WorkloadResponse.label(of: record, isTrusted: isTrusted) ?? ""
        let reason = isTrusted ? record.life.reason : ""
        return ["\(record.request.name.rawValue) #\(record.id.rawValue)", label, reason].contains {
            $0.lowercased().contains(text)
        }
    }

    private func detail(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try await answer(about: try id(context), context)
    }

    private func act(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try id(context)
        let name = context.parameters.get("action") ?? ""
        guard let action = WorkloadAction(rawValue: name) else {
            let names = WorkloadAction.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal(
                status: .notFound, message: "There is no action \"\(name.prefix(40))\". Choose one of \(names).")
        }
        let parameters = try Parameters(request, context)
        let level = try parameters.itemLevel()
        if action == .raise, level == nil {
            throw ParameterError.missing("level", example: "/workloads/1/raise?level=utility")
        }
        let reason = try parameters.itemReason() ?? "asked for on the page"
        guard let record = try await host[id].record else { throw WorkloadStoreError.unknownItem(id) }
        try await action.perform(on: record, host, level: level, reason: reason)
        runs.touch()
        return try await answer(about: id, context)
    }

    private func answer(about id: WorkloadItemID, _ context: ServiceContext) async throws -> Response {
        let pauses = try await host.snapshot(limit: 1).pauses
        guard let item = try await host.snapshot(of: id) else { throw WorkloadStoreError.unknownItem(id) }
        return try JSONResponse.make(
            WorkloadResponse(item, pauses: pauses, isTrusted: context.mayAct, isWhole: true))
    }

    private func id(_ context: ServiceContext) throws -> WorkloadItemID {
        let text = context.parameters.get("id") ?? ""
        guard let number = Int64(text), number > 0 else {
            throw ParameterError.notANumber("The item", String(text.prefix(40)))
        }
        return WorkloadItemID(rawValue: number)
    }

    private func events(_ request: Request, _ context: ServiceContext) throws -> Response {
        guard
            let subscriber = live.subscribe(
                context.channel, isTrusted: context.mayAct,
                wantsChanges: try Parameters(request, context).changes == "true")
        else {
            throw Refusal(
                status: .serviceUnavailable,
                message: "\(live.limit) pages show the live view already, or the service stops. Close one.",
                fields: [.retryAfter: "5"], isLimit: true)
        }
        let body = ResponseBody { writer in
            // A browser that loses the stream asks again after two seconds.
            try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
            for await state in subscriber.states {
                subscriber.noteWrite(begins: true)
                try await writer.write(ByteBuffer(string: state))
                subscriber.noteWrite(begins: false)
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream; charset=utf-8"], body: body)
    }
}

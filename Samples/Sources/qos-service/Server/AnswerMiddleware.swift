internal import HTTPTypes
internal import Hummingbird
internal import Indexing
internal import Logging
internal import QoSSQLiteStore
internal import QoSWorkloads

/// Turns errors into answers and writes a line of the log for each request.
struct AnswerMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    /// Whether messages may contain paths of this machine.
    let showsPaths: Bool

    @concurrent
    func handle(
        _ request: Request,
        context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response: Response
        var level = Logger.Level.info
        do {
            response = try await next(request, context)
        } catch {
            response = try answer(to: error)
            if response.status.kind == .serverError, !Self.isLimit(error) { level = .error }
        }
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        context.logger.log(
            level: level,
            "request",
            metadata: [
                "method": "\(request.method.rawValue.prefix(20))",
                // Without the query, which is private.
                "path": "\(request.uri.path.prefix(200))",
                "status": "\(response.status.code)",
                "ms": "\((milliseconds * 1000).rounded() / 1000)",
            ]
        )
        return response
    }

    /// Whether an error only shows that a limit worked. It is no trouble of the service, and clients could fill the log
    /// with it.
    private static func isLimit(_ error: any Error) -> Bool {
        switch error {
        case let refusal as Refusal: refusal.isLimit
        case is BusyError, is CancellationError, SearchError.timedOut, SearchError.cancelled: true
        default: false
        }
    }

    private func answer(to error: any Error) throws -> Response {
        switch error {
        case let error as Refusal:
            var response = try JSONResponse.make(ErrorResponse(error.message), status: error.status)
            response.headers.append(contentsOf: error.fields)
            return response
        case let error as ParameterError:
            return try JSONResponse.make(ErrorResponse(error.description), status: .badRequest)
        case let error as SearchError where error.isUserError:
            return try JSONResponse.make(ErrorResponse(error.description), status: .badRequest)
        case let error as WorkloadStoreError:
            return try JSONResponse.make(ErrorResponse(error.description), status: error.status)
        case let error as SearchError:
            return try unavailable(error.description, isPublic: error == .timedOut || error == .cancelled)
        case let error as SQLiteStoreError:
            return try unavailable(StoreTrouble.text(error), isPublic: true)
        case let error as BusyError:
            return try unavailable(error.description, isPublic: true)
        case is CancellationError:
            return try unavailable("The service is stopping.", isPublic: true)
        case let error as any HTTPResponseError:
            let message = error.status == .notFound ? "There is no such page." : error.status.reasonPhrase
            return try JSONResponse.make(ErrorResponse(message), status: error.status)
        default:
            return try unavailable("\(error)", isPublic: false)
        }
    }

    private func unavailable(_ message: String, isPublic: Bool) throws -> Response {
        let text = isPublic || showsPaths ? message : "The index cannot answer. The service's own terminal says why."
        var response = try JSONResponse.make(ErrorResponse(text), status: .serviceUnavailable)
        response.headers[.retryAfter] = "1"
        return response
    }
}

extension WorkloadStoreError {
    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .unknownItem: .notFound
        case .alreadyEnded, .alreadyStarted, .leaseLost, .cycle, .keyTaken, .otherWorkload: .conflict
        case .unknownLabel, .duplicateLabel, .duplicateKey, .schedule: .badRequest
        }
    }
}

internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import Indexing

/// What the service answers to.
struct SearchRoutes: Sendable {
    let index: SearchIndex
    let meter: ThroughputMeter

    /// The routes `/`, `/search` and `/status`.
    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("/") { _, _ in Self.page() }
        router.get("/search") { request, _ in try await search(request.uri) }
        router.get("/status") { _, _ in
            try Self.json(StatusResponse(index.status, rate: meter.rate))
        }
        return router
    }

    private func search(_ uri: URI) async throws -> Response {
        let start = ContinuousClock.now
        do {
            let query = try Self.query(uri)
            // The database blocks its thread, so it must be one that is meant for it.
            let answer = try await runAtUserInitiated { try index.search(query) }
            let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
            return try Self.json(SearchResponse(query, answer, milliseconds: milliseconds))
        } catch let error as SearchError {
            let status: HTTPResponse.Status = error.isUserError ? .badRequest : .serviceUnavailable
            return try Self.json(ErrorResponse(error), status: status)
        } catch let error as ParameterError {
            return try Self.json(ErrorResponse(error), status: .badRequest)
        }
    }

    /// The query in the address.
    private static func query(_ uri: URI) throws -> SearchQuery {
        let parameters = uri.queryParameters
        guard let text = parameters["q"] else { throw ParameterError.missing("q") }
        func number(_ name: String, default value: Int) throws -> Int {
            guard let text = parameters[Substring(name)] else { return value }
            guard let number = Int(text) else { throw ParameterError.notANumber(name, String(text)) }
            return number
        }
        let name = parameters["syntax"] ?? Substring(SearchSyntax.words.rawValue)
        guard let syntax = SearchSyntax(rawValue: String(name)) else {
            throw ParameterError.unknownSyntax(String(name))
        }
        return try SearchQuery(
            String(text),
            syntax: syntax,
            limit: number("limit", default: 20),
            offset: number("offset", default: 0)
        )
    }

    private static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return respond(try encoder.encode(value), type: "application/json; charset=utf-8", status: status)
    }

    private static func page() -> Response {
        respond(PackageResources.index_html, type: "text/html; charset=utf-8", status: .ok)
    }

    private static func respond(_ body: some Sequence<UInt8>, type: String, status: HTTPResponse.Status) -> Response {
        var response = Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        response.headers[.contentType] = type
        response.headers[.cacheControl] = "no-store"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"
        return response
    }
}

internal import HTTPTypes
internal import Hummingbird

/// Answers only clients that the policy allows, and only the methods that a path has: POST for the actions of items
/// and for restores, GET and HEAD for all others.
struct AccessMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    /// The paths that need no token: whether the service lives, and the style of the page that asks for the token.
    static let openPaths: Set<String> = ["/healthz", "/page.css"]

    /// The largest body of a request. No route reads one.
    private static let bodyLimit = 64 * 1024

    let policy: AccessPolicy

    @concurrent
    func handle(
        _ request: Request,
        context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let methods = Self.methods(of: request.uri.path)
        guard methods.contains(request.method) else {
            let names = methods.map(\.rawValue)
            throw Refusal(
                status: .methodNotAllowed,
                message: "Only \(names.joined(separator: " and ")) \(names.count == 1 ? "is" : "are") answered here.",
                fields: [.allow: names.joined(separator: ", ")])
        }
        let question = AccessPolicy.Question(request)
        if let refusal = policy.refusal(question) {
            throw Refusal(status: refusal.status, message: refusal.description)
        }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > Self.bodyLimit {
            throw Refusal(status: .contentTooLarge, message: "No route takes a body. Send parameters in the address.")
        }
        if request.uri.path == "/", let token = token(in: request, context), policy.isToken(token) {
            return welcome(token)
        }
        var context = context
        context.mayAct = policy.mayAct(question)
        let mayPass = question.changesState ? context.mayAct : policy.hasToken(question)
        if Self.openPaths.contains(request.uri.path) || mayPass {
            return try await next(request, context)
        }
        // A person gets a field for the token, a program the sentence.
        if request.uri.path == "/", request.headers[.accept]?.contains("text/html") == true {
            return PageAsset.tokenPage
        }
        throw Refusal.noToken
    }

    /// Returns the methods of a path.
    static func methods(of path: String) -> [HTTPRequest.Method] {
        if path == RestoreRoutes.path { return [.post] }
        if path == OwnerRoutes.conflictPath { return [.get, .head, .post] }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[1] == "workloads" ? [.post] : [.get, .head]
    }

    private func token(in request: Request, _ context: ServiceContext) -> String? {
        struct Parameters: Decodable { var token: String? }
        return try? request.uri.decodeQuery(as: Parameters.self, context: context).token
    }

    /// Stores the token in the browser and goes on to the page, whose address does not show it.
    private func welcome(_ token: String) -> Response {
        let cookie = "\(policy.cookie)=\(token); Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000"
        return Response(status: .seeOther, headers: [.location: "/", .setCookie: cookie])
    }
}

extension AccessPolicy.Question {
    /// Reads the policy's facts from a request.
    fileprivate init(_ request: Request) {
        func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { request.headers[$0] } }
        self.init(
            authority: request.head.authority,
            // The first Host header is the authority; further ones are left among the fields.
            hasFurtherHosts: field("Host") != nil,
            origin: request.headers[.origin],
            fetchSite: field("Sec-Fetch-Site"),
            fetchMode: field("Sec-Fetch-Mode"),
            authorization: request.headers[.authorization],
            cookies: request.headers[values: .cookie],
            changesState: request.method == .post,
            isPage: request.uri.path == "/"
        )
    }
}

internal import Glibc

/// Decides which requests are answered. A pure value.
///
/// A page of another site, in the user's browser, must not read the index. The policy refuses its requests across
/// sites, and requests under a name of that site which leads to this address (DNS rebinding). The token keeps other
/// users of the machine out.
struct AccessPolicy: Sendable {
    /// The parts of a request that the decision uses.
    struct Question: Sendable {
        /// The Host header.
        var authority: String?
        /// Whether there are further Host headers.
        var hasFurtherHosts = false
        var origin: String?
        var fetchSite: String?
        var fetchMode: String?
        /// The Authorization header.
        var authorization: String?
        /// The Cookie headers.
        var cookies: [String] = []
        /// Whether the request changes anything.
        var changesState = false
        /// Whether it asks for the page itself.
        var isPage = false
    }

    /// The reason to refuse a request.
    enum Refusal: Error, Equatable, CustomStringConvertible {
        case foreignHost(String)
        case severalHosts
        case foreignSite
        case noToken

        var description: String {
            switch self {
            case .foreignHost(let name):
                "This service is not called \"\(name)\". Use an address it listens on, or start it with "
                    + "--allowed-host NAME."
            case .severalHosts:
                "The request has several Host headers. Send one."
            case .foreignSite:
                "Pages of other sites are not answered. Open this service's own page."
            case .noToken:
                "The token is missing or wrong. Open the address that the service showed at its start, or send the "
                    + "header Authorization: Bearer TOKEN."
            }
        }
    }

    /// Further names, beside `localhost` and addresses, that the Host header may have; lower case.
    var hosts: Set<String> = []
    /// The token that a request needs, or nil if it needs none.
    var token: String?
    /// The token that a request needs to change workloads; without one nobody can.
    var actionToken: String?
    /// The name of the token's cookie.
    var cookie = "qos-service"
    /// Whether others than this user's own programs can connect.
    var isReachableByNetwork = true

    /// Returns the reason to refuse the request, or nil if it is answered.
    func refusal(_ question: Question) -> Refusal? {
        guard isReachableByNetwork else { return nil }
        let authority = question.authority ?? ""
        // A proxy in between may use another one.
        guard !question.hasFurtherHosts else { return .severalHosts }
        guard Self.isAddress(Self.host(of: authority)) || allows(Self.host(of: authority)) else {
            return .foreignHost(authority)
        }
        if let origin = question.origin, origin != "http://\(authority)", origin != "https://\(authority)" {
            return .foreignSite
        }
        // A link may lead to the page from anywhere. A form may not, and a frame or a window on a file or a search would
        // tell another site, by the time and the kind of the answer, which files there are.
        let isLink = question.fetchMode == "navigate" && !question.changesState && question.isPage
        if let site = question.fetchSite, site != "same-origin", site != "none", !isLink {
            return .foreignSite
        }
        return nil
    }

    /// Whether the request has the token, if one is needed.
    func hasToken(_ question: Question) -> Bool {
        guard let token else { return true }
        return shows(token, question)
    }

    /// Whether the request may change workloads.
    func mayAct(_ question: Question) -> Bool {
        actionToken.map { shows($0, question) } ?? false
    }

    private func shows(_ token: String, _ question: Question) -> Bool {
        if let header = question.authorization, let end = header.firstIndex(of: " "),
            header[..<end].lowercased() == "bearer"
        {
            return Self.equal(String(header[end...].drop { $0 == " " }), token)
        }
        let prefix = cookie + "="
        return question.cookies.contains { line in
            line.split(separator: ";").contains { part in
                let pair = part.drop { $0 == " " }
                return pair.hasPrefix(prefix) && Self.equal(String(pair.dropFirst(prefix.count)), token)
            }
        }
    }

    /// Whether a text is a token of this service.
    func isToken(_ text: String) -> Bool {
        [token, actionToken].contains { $0.map { Self.equal(text, $0) } ?? false }
    }

    /// Compares two texts. Takes the same time wherever they differ.
    private static func equal(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return zip(left.utf8, right.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func allows(_ host: String) -> Bool {
        let name = host.lowercased()
        return name == "localhost" || hosts.contains(name)
    }

    /// Returns the host in `host:port`, an address of IPv6 without its brackets.
    private static func host(of authority: String) -> String {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[authority.index(after: authority.startIndex)..<end])
        }
        guard let colon = authority.lastIndex(of: ":") else { return authority }
        return String(authority[..<colon])
    }

    /// Whether a host is an address. No name of another site can be one.
    private static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        return unsafe inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }
}

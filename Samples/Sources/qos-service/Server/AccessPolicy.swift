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
        if let site = question.fetchSite, site != "same-origin", site != "none", question.fetchMode != "navigate" {
            return .foreignSite
        }
        return nil
    }

    /// Whether the request has the token, if one is needed.
    func hasToken(_ question: Question) -> Bool {
        guard token != nil else { return true }
        if let header = question.authorization, let end = header.firstIndex(of: " "),
            header[..<end].lowercased() == "bearer"
        {
            return isToken(String(header[end...].drop { $0 == " " }))
        }
        let prefix = cookie + "="
        return question.cookies.contains { line in
            line.split(separator: ";").contains { part in
                let pair = part.drop { $0 == " " }
                return pair.hasPrefix(prefix) && isToken(String(pair.dropFirst(prefix.count)))
            }
        }
    }

    /// Whether a text is the token. Takes the same time wherever they differ.
    func isToken(_ text: String) -> Bool {
        guard let token, text.utf8.count == token.utf8.count else { return false }
        return zip(text.utf8, token.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
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

internal import Glibc
internal import HTTPTypes
internal import Hummingbird

/// Decides which requests an agent reads. A pure value.
struct AgentGate: Sendable {
    /// The reason to refuse a request.
    struct Refusal: Error, Equatable {
        var status: HTTPResponse.Status
        var text: String
    }

    let token: String
    /// Further names, beside `localhost` and addresses, that the Host header may have; lower case.
    let hosts: Set<String>

    /// Throws unless the request comes from a client with the token.
    ///
    /// No page of a browser has a reason to ask an agent, so a request with an origin is refused.
    func check(authority: String?, headers: HTTPFields) throws(Refusal) {
        guard headers[.origin] == nil else {
            throw Refusal(status: .forbidden, text: "Pages are not answered. Use qos-sync.")
        }
        let host = Self.host(of: authority ?? "")
        guard Self.isAddress(host) || host == "localhost" || hosts.contains(host) else {
            throw Refusal(
                status: .misdirectedRequest,
                text: "This agent is not called \"\(host.prefix(100))\". Use its address, or start it with "
                    + "--allowed-host NAME.")
        }
        let words = (headers[.authorization] ?? "").split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer", Self.isEqual(words[1].utf8, token.utf8) else {
            throw Refusal(
                status: .unauthorized, text: "The token is missing or wrong. Copy the agent's token file.")
        }
    }

    /// Compares two texts. Takes the same time wherever they differ.
    private static func isEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Returns the host in `host:port`, an address of IPv6 without its brackets.
    private static func host(of authority: String) -> String {
        let text = authority.lowercased()
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return String(text[text.index(after: text.startIndex)..<end])
        }
        return String(text[..<(text.lastIndex(of: ":") ?? text.endIndex)])
    }

    private static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        return unsafe inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }
}

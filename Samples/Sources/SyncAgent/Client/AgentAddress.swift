internal import Foundation

/// The address of an agent: `http://HOST:PORT`, or `https://HOST` for a proxy with TLS before it.
public struct AgentAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address without a slash at its end.
    public let description: String

    /// Reads an address; nil if the text is a path of this machine.
    ///
    /// - Throws: `AgentError` if it begins as an address and is none.
    public init?(_ text: String) throws(AgentError) {
        let lower = text.lowercased()
        guard lower.hasPrefix("http://") || lower.hasPrefix("https://") else { return nil }
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.query == nil,
            parts.fragment == nil
        else { throw AgentError("\(text) is no address of an agent. Write http://HOST:PORT, or https://HOST.") }
        guard parts.user == nil, parts.password == nil else {
            throw AgentError("An address has no secret in it. Name the agent's token file with --token-file.")
        }
        let port = parts.port.map { ":\($0)" } ?? ""
        let whole = parts.percentEncodedPath
        let path = whole.hasSuffix("/") ? whole.dropLast() : whole[...]
        description = "\(parts.scheme?.lowercased() ?? "http")://\(parts.percentEncodedHost ?? host)\(port)\(path)"
    }

    /// Whether the bytes go over the network without encryption.
    public var isOpenToOthers: Bool {
        guard description.hasPrefix("http://"), let host = URLComponents(string: description)?.host else {
            return false
        }
        return !["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
    }
}

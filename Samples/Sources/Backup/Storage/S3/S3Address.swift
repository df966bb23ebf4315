internal import Foundation

/// The place of a repository in storage that speaks S3: `s3:https://host[:port]/bucket/prefix`.
struct S3Address: Sendable, Hashable {
    private static let scheme = "s3:"

    /// `https` or `http`.
    let scheme: String
    let host: String
    let port: Int?
    let bucket: String
    /// The first part of all names; without slashes at its ends, and empty for the whole bucket.
    let prefix: String

    /// Whether a text is meant as such an address, and not as a path. Write `./s3:…` for a folder of that name.
    static func isMeant(by text: String) -> Bool { text.hasPrefix(scheme) }

    /// Reads an address.
    ///
    /// - Throws: `BackupError.badAddress`.
    init(_ text: String) throws {
        let rest = String(text.dropFirst(Self.scheme.count))
        guard let components = URLComponents(string: rest), let scheme = components.scheme?.lowercased(),
            let host = components.host, !host.isEmpty
        else { throw BackupError.badAddress(text, detail: "it has no host") }
        guard scheme == "https" || scheme == "http" else {
            throw BackupError.badAddress(text, detail: "\(scheme) is neither https nor http")
        }
        guard components.user == nil, components.password == nil else {
            // Not with the text: it may have a secret.
            throw BackupError.badAddress(
                "s3:\(scheme)://…@\(host)", detail: "keys belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        guard components.query == nil, components.fragment == nil else {
            throw BackupError.badAddress(text, detail: "it has a ? or a #")
        }
        let parts = components.path.split(separator: "/").map(String.init)
        guard let bucket = parts.first else { throw BackupError.badAddress(text, detail: "it names no bucket") }
        guard !parts.contains(where: { $0 == "." || $0 == ".." }) else {
            throw BackupError.badAddress(text, detail: "it has . or .. in its path")
        }
        self.scheme = scheme
        self.host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        port = components.port == (scheme == "https" ? 443 : 80) ? nil : components.port
        self.bucket = bucket
        prefix = parts.dropFirst().joined(separator: "/")
    }

    /// The host, with the port if it is not the usual one.
    var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// The address without a slash at its end.
    var text: String {
        "\(Self.scheme)\(scheme)://\(authority)/\(bucket)" + (prefix.isEmpty ? "" : "/\(prefix)")
    }

    /// The name of an object, from a path that begins with `text`.
    func key(of path: String) -> String {
        let rest = path.dropFirst(text.count).drop { $0 == "/" }
        return prefix.isEmpty ? String(rest) : rest.isEmpty ? prefix : "\(prefix)/\(rest)"
    }

    /// The path of an object.
    func path(of key: String) -> String {
        text + "/" + (prefix.isEmpty ? key : String(key.dropFirst(prefix.count + 1)))
    }
}

/// The keys of a person for storage that speaks S3.
struct S3Credentials: Sendable {
    let keyID: String
    let secret: String
    /// The token of keys that end by themselves.
    let session: String?
    let region: String

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` and `AWS_REGION`.
    ///
    /// - Throws: `BackupError.noCredentials`.
    static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> S3Credentials {
        func value(_ name: String) -> String? {
            environment[name]?.trimmingCharacters(in: .whitespacesAndNewlines).nonEmpty
        }
        guard let keyID = value("AWS_ACCESS_KEY_ID") else {
            throw BackupError.noCredentials(variable: "AWS_ACCESS_KEY_ID")
        }
        guard let secret = value("AWS_SECRET_ACCESS_KEY") else {
            throw BackupError.noCredentials(variable: "AWS_SECRET_ACCESS_KEY")
        }
        return S3Credentials(
            keyID: keyID, secret: secret, session: value("AWS_SESSION_TOKEN"),
            region: value("AWS_REGION") ?? value("AWS_DEFAULT_REGION") ?? "us-east-1")
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

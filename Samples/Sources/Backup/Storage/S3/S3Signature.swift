internal import Crypto
internal import Foundation

/// Signs requests to S3: AWS Signature Version 4, with the signature in the field `Authorization`.
struct S3Signature: Sendable {
    /// A request as it is sent.
    struct Request: Sendable {
        var method: String
        /// The bytes of the path, not encoded.
        var path: String
        /// The arguments, not encoded.
        var query: [(name: String, value: String)] = []
        /// The fields that are signed, beside those that `fields` adds.
        var fields: [(name: String, value: String)] = []
        /// The SHA-256 of the body.
        var bodyHash = S3Signature.emptyHash
    }

    /// The SHA-256 of no bytes.
    static let emptyHash = Hexadecimal.text(SHA256.hash(data: [UInt8]()))

    let credentials: S3Credentials

    /// Returns all fields of a request: its own, the time, the hash of the body, and the signature.
    ///
    /// - Parameter seconds: The time since 1970. The server refuses one that is minutes away from its own.
    func fields(of request: Request, host: String, at seconds: Int) -> [(name: String, value: String)] {
        let time = Self.time(seconds)
        let day = String(time.prefix(8))
        var fields = request.fields
        fields += [("host", host), ("x-amz-content-sha256", request.bodyHash), ("x-amz-date", time)]
        if let session = credentials.session { fields.append(("x-amz-security-token", session)) }
        let sorted = fields.map { ($0.name.lowercased(), $0.value.trimmingCharacters(in: .whitespaces)) }
            .sorted { $0.0 < $1.0 }
        let names = sorted.map(\.0).joined(separator: ";")
        let canonical = [
            request.method, Self.encode(request.path, keeping: "/"), Self.query(request.query),
            sorted.map { "\($0.0):\($0.1)\n" }.joined(), names, request.bodyHash,
        ].joined(separator: "\n")
        let scope = "\(day)/\(credentials.region)/s3/aws4_request"
        let text = ["AWS4-HMAC-SHA256", time, scope, Hexadecimal.text(SHA256.hash(data: Array(canonical.utf8)))]
            .joined(separator: "\n")
        var key = Array("AWS4\(credentials.secret)".utf8)
        for part in [day, credentials.region, "s3", "aws4_request", text] { key = Self.code(part, key) }
        let signature = Hexadecimal.text(key)
        fields.append(
            (
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=\(credentials.keyID)/\(scope),SignedHeaders=\(names),"
                    + "Signature=\(signature)"
            ))
        return fields
    }

    /// The arguments as they are signed and sent.
    static func query(_ query: [(name: String, value: String)]) -> String {
        query.map { (encode($0.name), encode($0.value)) }.sorted { $0 < $1 }.map { "\($0)=\($1)" }
            .joined(separator: "&")
    }

    /// Encodes all bytes but letters, digits, `-._~`, and those of `kept`.
    static func encode(_ text: String, keeping kept: String = "") -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~\(kept)".utf8)
        return text.utf8.reduce(into: "") { result, byte in
            if plain.contains(byte) {
                result.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                result += "%" + Hexadecimal.text([byte]).uppercased()
            }
        }
    }

    private static func code(_ text: String, _ key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: key)))
    }

    /// A time as `20130524T000000Z`.
    static func time(_ seconds: Int) -> String {
        let date = Date(timeIntervalSince1970: TimeInterval(seconds))
        let text = date.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt))
        return text
    }
}

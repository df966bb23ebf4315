internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1
internal import SafeFiles

/// Sends requests to storage that speaks S3, and waits for the answers. Threads may share it.
///
/// A request that fails for a reason that may pass is sent again, after a pause that grows. All requests of a
/// repository may be repeated: they name what they read, write or remove.
final class S3Client: Sendable {
    /// How long a client waits.
    struct Patience: Sendable {
        var connect = Duration.seconds(10)
        /// The longest silence.
        var silence = Duration.seconds(60)
        /// The pauses before a request is sent again, in milliseconds. A random half of each is left out.
        var pauses = [200, 500, 1000, 2000, 4000, 8000]
    }

    /// A request on an object, or on the bucket if there is no key.
    struct Call: Sendable {
        var method = "GET"
        var key: String?
        var query: [(name: String, value: String)] = []
        var fields: [(name: String, value: String)] = []
        var body: [UInt8] = []
        /// Whether it is sent again after a failure that may pass.
        var mayWait = true
    }

    /// An answer with a status of success, or 404 for an object, or 416.
    struct Answer: Sendable {
        let status: Int
        let bytes: [UInt8]
    }

    private static let piece = 256 << 10
    private static let longest = 1 << 30

    let address: S3Address
    private let signature: S3Signature
    private let patience: Patience
    private let clock: @Sendable () -> Int64
    private let client: HTTPClient

    /// Makes a client.
    ///
    /// - Parameter clock: The time in nanoseconds since 1970. For tests.
    init(
        _ address: S3Address, _ credentials: S3Credentials, patience: Patience = Patience(),
        clock: @escaping @Sendable () -> Int64 = { FileTime.now }
    ) {
        self.address = address
        self.patience = patience
        self.clock = clock
        signature = S3Signature(credentials: credentials)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(
                connect: TimeAmount(patience.connect), read: TimeAmount(patience.silence),
                write: TimeAmount(patience.silence)))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.idleTimeout = .seconds(5)
        // Pauses are a matter of `patience` alone.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        client.shutdown { _ in }
    }

    /// Sends a request and waits for its answer. Blocks the thread.
    ///
    /// - Parameter operation: What is done, for people: `read`, `write`.
    /// - Throws: `BackupError.refused`, `.unreachable`, `.noSpace`; `.failed` with `ENOENT` for an object that is not
    ///   there.
    func send(_ call: Call, _ operation: String) throws -> Answer {
        let path = call.key.map(address.path(of:)) ?? address.text
        let bodyHash = call.body.isEmpty ? S3Signature.emptyHash : Identifier(file: call.body).description
        var pauses = call.mayWait ? patience.pauses[...] : []
        while true {
            let failure: String
            do {
                let response = try exchange(call, bodyHash)
                let status = Int(response.status.code)
                let bytes = response.body.map { Array(buffer: $0) } ?? []
                if (200..<300).contains(status) || status == 416 { return Answer(status: status, bytes: bytes) }
                let fields = S3Listing(bytes)?.fields ?? [:]
                let code = fields["Code"] ?? ""
                guard Self.mayPass(status, code) else {
                    throw error(status, code, fields, response, call.key == nil ? nil : path, operation)
                }
                failure = "it answers \(status) \(code)".trimmingCharacters(in: .whitespaces)
            } catch let error as BackupError {
                throw error
            } catch {
                failure = Self.text(error)
                guard !Self.isFinal(failure) else {
                    throw BackupError.unreachable(place: address.text, detail: failure)
                }
            }
            guard !Task.isCancelled, let pause = pauses.popFirst() else {
                throw BackupError.unreachable(place: address.text, detail: failure)
            }
            Thread.sleep(forTimeInterval: Double(Int.random(in: pause / 2...pause)) / 1000)
        }
    }

    private func exchange(_ call: Call, _ bodyHash: String) throws -> HTTPClient.Response {
        var signed = S3Signature.Request(method: call.method, path: "/" + address.bucket)
        if let key = call.key { signed.path += "/" + key }
        signed.query = call.query
        signed.fields = call.fields
        signed.bodyHash = bodyHash
        let query = S3Signature.query(call.query)
        let url =
            "\(address.scheme)://\(address.authority)" + S3Signature.encode(signed.path, keeping: "/")
            + (query.isEmpty ? "" : "?" + query)
        let seconds = Int(clock() / 1_000_000_000)
        var headers = HTTPHeaders()
        for field in signature.fields(of: signed, host: address.authority, at: seconds) {
            headers.add(name: field.name, value: field.value)
        }
        let request = try HTTPClient.Request(
            url: url, method: HTTPMethod(rawValue: call.method), headers: headers,
            body: call.method == "PUT" ? Self.body(call.body) : nil)
        let limit = ResponseAccumulator(request: request, maxBodySize: Self.longest)
        return try client.execute(request: request, delegate: limit, deadline: .now() + .minutes(30)).futureResult
            .wait()
    }

    /// The body in pieces: each has the time of a silence, so a slow line is none.
    private static func body(_ bytes: [UInt8]) -> HTTPClient.Body {
        .stream(contentLength: Int64(bytes.count)) { writer in
            @Sendable func write(from start: Int) -> EventLoopFuture<Void> {
                let end = min(start + piece, bytes.count)
                let sent = writer.write(.byteBuffer(ByteBuffer(bytes: bytes[start..<end])))
                return end == bytes.count ? sent : sent.flatMap { write(from: end) }
            }
            return write(from: 0)
        }
    }

    // MARK: Failures

    /// Whether the same request may succeed a moment later.
    private static func mayPass(_ status: Int, _ code: String) -> Bool {
        if code == "InsufficientStorage" || code == "XMinioStorageFull" || status == 507 { return false }
        return status == 408 || status == 429 || (500...599).contains(status) && status != 501
            || ["SlowDown", "RequestTimeout", "InternalError", "OperationAborted"].contains(code)
    }

    private func error(
        _ status: Int, _ code: String, _ fields: [String: String], _ response: HTTPClient.Response, _ object: String?,
        _ operation: String
    ) -> BackupError {
        let path = object ?? address.text
        func refused(_ detail: String) -> BackupError { .refused(place: address.text, detail: detail) }
        switch code {
        case "NoSuchKey": return BackupError.failed(path: path, operation: operation, code: 2)
        case "NoSuchBucket":
            return refused(
                "there is no bucket '\(address.bucket)'. Check the name, or make it with the provider's tools")
        case "InvalidAccessKeyId":
            return refused("it does not know this AWS_ACCESS_KEY_ID. Check the key, and the address of the storage")
        case "SignatureDoesNotMatch":
            return refused("AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID. Check both")
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
            return refused("AWS_SESSION_TOKEN is not valid any more. Get new keys")
        case "RequestTimeTooSkewed", "RequestExpired":
            let date = response.headers.first(name: "Date").map { ", and there it is \($0)" } ?? ""
            return refused(
                "the clock of this machine is wrong: it says \(S3Signature.time(Int(clock() / 1_000_000_000)))\(date). "
                    + "Set the clock")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect",
            "IllegalLocationConstraintException":
            let region = (fields["Region"] ?? response.headers.first(name: "x-amz-bucket-region")).map { " to \($0)" }
            let endpoint = fields["Endpoint"].map { ", or use the host \($0)" } ?? ""
            return refused("the bucket is in another region. Set AWS_REGION\(region ?? "")\(endpoint)")
        case "AccessDenied", "AllAccessDisabled", "AccountProblem":
            return refused(
                "the key may not \(operation) \(path). Let it list the bucket, and read, write and remove objects in it"
            )
        case "InsufficientStorage", "XMinioStorageFull", "QuotaExceeded": return .noSpace(path: path)
        default: break
        }
        if status == 507 { return .noSpace(path: path) }
        if status == 404, object != nil { return BackupError.failed(path: path, operation: operation, code: 2) }
        if (300..<400).contains(status) {
            return refused("it answers \(status): the bucket is elsewhere. Check the host and AWS_REGION")
        }
        // What somebody else wrote: for a terminal.
        let message = [code, fields["Message"] ?? ""].filter { !$0.isEmpty }.joined(separator: ", ")
        let shown = String(
            String.UnicodeScalarView(message.unicodeScalars.filter { $0.properties.isPrintable }).prefix(300))
        return refused("\(operation) \(path): status \(status)\(shown.isEmpty ? "" : ", \(shown)")")
    }

    /// Whether a failure of the connection does not pass by itself.
    private static func isFinal(_ text: String) -> Bool {
        text.hasPrefix("its certificate") || text.hasPrefix("it does not speak")
    }

    private static func text(_ error: any Error) -> String {
        if let error = error as? HTTPClientError {
            if error == .readTimeout || error == .writeTimeout { return "it is silent" }
            if error == .connectTimeout { return "no connection in time" }
            if error == .remoteConnectionClosed { return "the connection was closed" }
        }
        let text = "\(error)"
        if text.contains("Connection refused") { return "no server listens there" }
        if text.contains("UnknownHost") { return "no address is known for the name of its host" }
        if text.contains("WRONG_VERSION_NUMBER") {
            return "it does not speak TLS. Write http, if you trust the network"
        }
        guard text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname") else {
            return text
        }
        return "its certificate is not one for this name that this machine trusts"
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isPrintable: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

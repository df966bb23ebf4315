internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import Sync
internal import Synchronization
internal import TreeScan

/// Sends commands to an agent, and reads the answers. Threads may share it.
final class AgentClient: Sendable {
    /// The times after which a client gives up.
    struct Patience: Sendable {
        var connect = TimeAmount.seconds(10)
        /// The longest silence. An agent at work says so every five seconds.
        var silence = TimeAmount.seconds(60)
        /// The waits before a command that changes nothing is sent again.
        var retries: [Duration] = [.milliseconds(200), .seconds(1)]
    }

    let address: AgentAddress
    let patience: Patience

    private let token: String
    private let client: HTTPClient
    /// The error after which no more requests are sent: a dead agent costs the time of one request only.
    private let lost = Mutex<SyncError?>(nil)

    init(_ address: AgentAddress, token: String, patience: Patience = Patience()) {
        self.address = address
        self.token = token
        self.patience = patience
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(
                connect: patience.connect, read: patience.silence, write: patience.silence))
        configuration.httpVersion = .http1Only
        // The agent closes a silent connection later.
        configuration.connectionPool.idleTimeout = .seconds(20)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        client.shutdown { _ in }
    }

    /// Lets requests be sent again after the agent was lost.
    func reset() { lost.withLock { $0 = nil } }

    /// Sends a command and reads its answer.
    ///
    /// - Parameters:
    ///   - path: The entry of the command, for failures.
    ///   - payload: Frames behind the command.
    ///   - mayRepeat: Whether the command may be sent again if a connection dies.
    ///   - onPiece: Takes the pieces of the answer.
    /// - Throws: `FileSystemFailure` if the file system over there refuses, `SyncError` for all else that goes wrong
    ///   over there, `CancellationError`, and the errors of `onPiece`.
    func call(
        _ command: AgentCommand, at path: RelativePath, session: String?, payload: [UInt8] = [],
        mayRepeat: Bool = false, onPiece: (ArraySlice<UInt8>) async throws -> Void
    ) async throws -> AgentAnswer {
        if let error = lost.withLock({ $0 }) { throw error }
        var request = HTTPClientRequest(url: address.description + AgentCommand.place)
        request.method = .POST
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        request.headers.add(name: "Content-Type", value: "application/octet-stream")
        if let session { request.headers.add(name: AgentCommand.sessionField, value: session) }
        request.body = .bytes(
            ByteBuffer(bytes: FrameReader.frame(Array(try JSONEncoder().encode(command))) + payload))
        var retries = mayRepeat ? patience.retries[...] : []
        while true {
            do {
                return try await exchange(request, at: path, onPiece)
            } catch let lost as LostConnection {
                try Task.checkCancellation()
                guard let wait = retries.popFirst() else {
                    let error = SyncError.unreachable(.b, place: address.description, detail: lost.text)
                    self.lost.withLock { $0 = error }
                    throw error
                }
                try await Task.sleep(for: wait)
            } catch let error as WireError {
                throw SyncError.wrongAnswer(.b, place: address.description, detail: error.description)
            }
        }
    }

    /// Sends a command that has no pieces in its answer. One that changes nothing is sent again if a connection dies.
    func call(_ command: AgentCommand, at path: RelativePath, session: String?) async throws -> AgentAnswer {
        try await call(command, at: path, session: session, mayRepeat: !command.isChange) { _ in
            throw WireError("there are pieces where none belong")
        }
    }

    /// The end of a connection before the end of the answer.
    private struct LostConnection: Error {
        var text: String
    }

    private func exchange(
        _ request: HTTPClientRequest, at path: RelativePath, _ onPiece: (ArraySlice<UInt8>) async throws -> Void
    ) async throws -> AgentAnswer {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: .distantFuture)
        } catch {
            throw LostConnection(text: Self.text(error))
        }
        // A proxy has no agent behind it, for now.
        if (502...504).contains(response.status.code) {
            throw LostConnection(text: "the proxy has no answer of it (status \(response.status.code))")
        }
        guard response.status == .ok else { throw await refusal(response) }
        var frames = FrameReader()
        var body = response.body.makeAsyncIterator()
        while true {
            while let frame = try frames.next() {
                guard let kind = frame.first.flatMap(AgentFrame.init) else { throw WireError("a frame has no kind") }
                let payload = frame.dropFirst()
                switch kind {
                case .working: break
                case .piece: try await onPiece(payload)
                case .answer:
                    guard let answer = try? JSONDecoder().decode(AgentAnswer.self, from: Data(payload)) else {
                        throw WireError("the answer cannot be read")
                    }
                    return answer
                case .failure:
                    guard let failure = try? JSONDecoder().decode(AgentFailure.self, from: Data(payload)) else {
                        throw WireError("the failure cannot be read")
                    }
                    throw error(failure, at: path)
                }
            }
            let more: ByteBuffer?
            do {
                more = try await body.next()
            } catch {
                throw LostConnection(text: Self.text(error))
            }
            guard let more else { throw LostConnection(text: "the answer ended too early") }
            frames.append(more.readableBytesView)
        }
    }

    private func refusal(_ response: HTTPClientResponse) async -> any Error {
        let body = try? await response.body.collect(upTo: 4096)
        var text = RelativePath(bytes: Array((body.map { String(buffer: $0) } ?? "").utf8)).display
        // The agent answers in plain text; a page is that of a proxy.
        if text.hasPrefix("<") { text = "" }
        if response.status == .payloadTooLarge {
            text = "the request is too long. Let the proxy before the agent pass bodies of 12 MiB."
        }
        return SyncError.refused(
            .b, place: address.description, detail: text.isEmpty ? "status \(response.status.code)" : text)
    }

    private func error(_ failure: AgentFailure, at path: RelativePath) -> any Error {
        let text = String(RelativePath(bytes: Array(failure.text.utf8)).display.prefix(300))
        switch failure.reason {
        case .file: return FileSystemFailure(path: path, operation: text, code: failure.code)
        case .readOnly: return SyncError.readOnlyAgent(.b, place: address.description)
        case .replaced: return SyncError.replaced(.b, path: address.description)
        case .session: return SyncError.unreachable(.b, place: address.description, detail: text)
        case .command: return SyncError.refused(.b, place: address.description, detail: text)
        }
    }

    private static func text(_ error: any Error) -> String {
        if let error = error as? HTTPClientError {
            if error == .readTimeout || error == .writeTimeout { return "it is silent" }
            if error == .connectTimeout { return "no connection in time" }
            if error == .remoteConnectionClosed { return "the connection was closed" }
        }
        let text = "\(error)"
        guard text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname")
        else { return text }
        return "its certificate is not one for this name that this machine trusts"
    }
}

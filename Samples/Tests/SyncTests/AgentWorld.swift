import Dispatch
import Foundation
import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import SampleTestSupport
import Testing

@testable import Sync
@testable import SyncAgent

/// The token of all agents of the tests.
let agentToken = "0123456789abcdefghij"

/// A server on a free port of this machine, until `stop` or the end of this object.
final class RunningServer: Sendable {
    let address: AgentAddress
    private let task: Task<Void, any Error>

    private init(_ body: @escaping @Sendable (@escaping @Sendable (Int) -> Void) async throws -> Void) async throws {
        let (ports, feed) = AsyncStream<Int>.makeStream()
        task = Task {
            defer { feed.finish() }
            try await body { feed.yield($0) }
        }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        address = try #require(try AgentAddress("http://127.0.0.1:\(port)"))
    }

    deinit {
        task.cancel()
    }

    /// An agent, with a clock as that of the world's options.
    static func agent(
        _ folder: String, change: (inout SyncAgent.Settings) -> Void = { _ in }
    ) async throws -> RunningServer {
        var settings = SyncAgent.Settings()
        change(&settings)
        let now = SyncOptions().now
        let agent = try SyncAgent(folder, token: agentToken, settings: settings) { now() + 10_000_000_000 }
        return try await RunningServer { try await agent.run(listening: $0) }
    }

    /// A server that answers as it likes.
    static func liar(
        _ answer: @escaping @Sendable (AgentCommand) async throws -> [UInt8]
    ) async throws -> RunningServer {
        try await RunningServer { listening in
            let router = Router()
            router.post("v1") { request, _ in
                var frames = FrameReader()
                frames.append(try await request.body.collect(upTo: 1 << 20).readableBytesView)
                let header = try #require(try frames.next())
                let command = try JSONDecoder().decode(AgentCommand.self, from: Data(header))
                let bytes = try await answer(command)
                return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
            }
            let application = Application(
                router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { listening($0.localAddress?.port ?? 0) })
            try await application.run()
        }
    }

    func stop() async {
        task.cancel()
        _ = await task.result
    }
}

extension SyncWorld {
    /// Brings A and the folder of an agent in step.
    @discardableResult
    func sync(
        with server: RunningServer, _ change: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> SyncReport {
        var options = options
        change(&options)
        return try await SyncRun(a: a, agent: server.address, token: agentToken, options: options).run()
    }
}

/// Runs a body that may block, on a thread of its own.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { waiter in
        DispatchQueue.global().async { waiter.resume(with: Result { try body() }) }
    }
}

extension AgentFrame {
    /// The bytes of a frame of an answer.
    func bytes(_ payload: [UInt8]) -> [UInt8] { FrameReader.frame([rawValue] + payload) }

    static func answer(_ change: (inout AgentAnswer) -> Void = { _ in }) throws -> [UInt8] {
        var answer = AgentAnswer()
        change(&answer)
        return AgentFrame.answer.bytes(Array(try JSONEncoder().encode(answer)))
    }
}

import BenchCore
import CBenchShims
import Dispatch
import Glibc
import NIOCore
import NIOPosix
import QoSCore
import Synchronization

/// B19: a library's threads that background work has made, beside background work that would use all there is.
///
/// - `echo`: an event loop of NIO answers a client, 50 µs of work each. The client is the world outside.
/// - `read`: a request at userInitiated lets a thread of Dispatch work for 100 µs, as a read of a database does, and
///   goes on.
struct LibraryThreads: Workload {
    enum Way: String { case echo, read }

    let way: Way
    /// Whether low work runs beside it.
    let isLoaded: Bool

    /// The time between two requests, nanoseconds.
    private static let gap: UInt64 = 1_500_000
    private static let echoWork: UInt64 = 50_000
    private static let readWork: UInt64 = 100_000
    /// The number of threads that the library has.
    private static let threads = 2

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        let group = await stage.detached(.background) { await Self.makeThreads() }.value
        let low = isLoaded ? LowWork([.background], count: 8, piece: 500_000, on: stage) : nil
        let latencies =
            switch way {
            case .echo: try await echo(on: group, stage, seconds)
            case .read: await read(stage, seconds)
            }
        low?.stop()
        await low?.waitForEnd()
        var figures = RawFigures()
        figures.addLatencies("request", latencies.values)
        return figures
    }

    /// The first uses of the libraries. Dispatch makes a thread for each block that finds none idle.
    private static func makeThreads() async -> MultiThreadedEventLoopGroup {
        let busy = DispatchGroup()
        let all = DispatchSemaphore(value: 0)
        for _ in 0..<threads {
            DispatchQueue.global(qos: .userInitiated).async(group: busy) { all.wait() }
        }
        for _ in 0..<threads { all.signal() }
        await withCheckedContinuation { continuation in
            busy.notify(queue: .global()) { continuation.resume() }
        }
        return MultiThreadedEventLoopGroup(numberOfThreads: threads)
    }

    // MARK: Echo

    private final class Echo: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bench_work(LibraryThreads.echoWork)
            context.writeAndFlush(data, promise: nil)
        }
    }

    private func echo(on group: MultiThreadedEventLoopGroup, _ stage: Stage, _ seconds: Double) async throws
        -> Latencies
    {
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Echo()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = UInt16(clamping: server.localAddress?.port ?? 0)
        let latencies = Latencies(capacity: Int(seconds * 1e9) / Int(Self.gap) + 1)
        let failure = Mutex<Int32>(0)
        await withCheckedContinuation { continuation in
            stage.outside.perform {
                let error = Self.ask(port, seconds, latencies)
                failure.withLock { $0 = error }
                continuation.resume()
            }
        }
        try await server.close()
        guard failure.withLock({ $0 }) == 0 else { throw Failure(code: failure.withLock { $0 }) }
        return latencies
    }

    /// Sends requests one after another, and waits for each answer. On the outside thread.
    private static func ask(_ port: UInt16, _ seconds: Double, _ latencies: Latencies) -> Int32 {
        let connection = bench_connect(port)
        guard connection >= 0 else { return -connection }
        defer { close(connection) }
        let end = bench_now() + UInt64(seconds * 1e9)
        var next = bench_now() + 100_000_000
        while next < end {
            bench_sleep_until(next)
            let error = bench_exchange(connection)
            guard error == 0 else { return error }
            let now = bench_now()
            latencies.add(Double(now - next))
            // An answer that took longer than the gap delays the next request: the client is one of many.
            next = max(next + gap, now)
        }
        return 0
    }

    private struct Failure: Error {
        let code: Int32
    }

    // MARK: Read

    private func read(_ stage: Stage, _ seconds: Double) async -> Latencies {
        let count = Int(seconds * 1e9) / Int(Self.gap)
        let latencies = Latencies(capacity: count)
        let finished = Counter()
        let database = DispatchQueue(label: "database", qos: .userInitiated, attributes: .concurrent)
        await withCheckedContinuation { ended in
            stage.outside.perform {
                let start = bench_now() + 100_000_000
                for number in 0..<count {
                    let intended = start + UInt64(number) * Self.gap
                    bench_sleep_until(intended)
                    stage.detached(.userInitiated) {
                        await withCheckedContinuation { read in
                            database.async {
                                bench_work(Self.readWork)
                                read.resume()
                            }
                        }
                        latencies.add(Double(bench_now() - intended))
                        if finished.add() == count { ended.resume() }
                    }
                }
            }
        }
        return latencies
    }
}

import Foundation
import Glibc
import Synchronization

/// Searches that come at their times, whether the earlier ones are answered or not.
struct Load {
    let port: Int
    /// Searches a second.
    let rate: Double
    private static let clients = 24

    /// Returns the searches a second that the service answers at most, with as many clients as a load has.
    static func capacity(port: Int, _ queries: [String], seconds: Double) throws -> Double {
        let end = ContinuousClock.now + .seconds(seconds)
        // All are due at once, so that no client waits.
        let answered = try Load(port: port, rate: .infinity).run(queries, seconds: seconds) { .now >= end }
        return Double(answered.count) / seconds
    }

    /// Sends searches until the time is over or `isOver` returns `true`.
    ///
    /// The clients take the searches in turn. The time of a late search counts from the moment at which it was due.
    ///
    /// - Returns: The searches that were answered, in no order.
    func run(_ queries: [String], seconds: Double, until isOver: @escaping @Sendable () -> Bool = { false }) throws
        -> [SearchSample]
    {
        let all = Mutex<[SearchSample]>([])
        let failure = Mutex<(any Error)?>(nil)
        let count = rate.isFinite ? min(queries.count, Int(seconds * rate)) : queries.count
        // Times at random, as from many people who do not know each other.
        var random = Generator(state: 7)
        var time = 0.05
        let times = (0..<count).map { _ in
            time -= log(Double.random(in: 0.0001..<1, using: &random)) / rate
            return time
        }
        let start = ContinuousClock.now
        let port = port
        let ended = DispatchSemaphore(value: 0)
        for number in 0..<Self.clients {
            // One thread each: they block.
            Thread.detachNewThread {
                defer { ended.signal() }
                do {
                    let client = try Client(port: port)
                    var own: [SearchSample] = []
                    for index in stride(from: number, to: count, by: Self.clients) where !isOver() {
                        let due = start + .seconds(times[index])
                        let wait = due - .now
                        if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
                        let sent = ContinuousClock.now
                        let answer = try client.get("/search?q=\(queries[index])")
                        let end = ContinuousClock.now
                        own.append(
                            SearchSample(
                                query: queries[index], due: times[index], wait: (sent - due) / .milliseconds(1),
                                latency: (end - due) / .milliseconds(1), service: try Self.serviceTime(answer)))
                    }
                    all.withLock { $0 += own }
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        for _ in 0..<Self.clients { ended.wait() }
        if let error = failure.withLock({ $0 }) { throw error }
        return all.withLock { $0 }
    }

    /// Returns the milliseconds that the service says an answer took. Decoding the whole JSON would cost the processors
    /// more than the client.
    private static func serviceTime(_ answer: [UInt8]) throws -> Double {
        let answer = Data(answer)
        guard let key = answer.range(of: Data("\"took_ms\":".utf8)),
            let end = answer[key.upperBound...].firstIndex(where: { ",}".utf8.contains($0) }),
            let time = Double(String(decoding: answer[key.upperBound..<end], as: UTF8.self))
        else { throw Client.Failure(message: "no took_ms in the answer") }
        return time
    }
}

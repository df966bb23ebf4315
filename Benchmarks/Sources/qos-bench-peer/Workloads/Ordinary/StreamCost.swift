import BenchCore

/// Elements that one task puts into a stream and another takes out; the cost of one.
struct StreamCost: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let elements = 20_000
        return await CostMeter.measure(seconds: seconds, operations: elements) {
            let (stream, input) = AsyncStream.makeStream(of: Int.self)
            let reader = stage.detached {
                var sum = 0
                for await element in stream { sum &+= element }
                return sum
            }
            let writer = stage.detached {
                for number in 0..<elements { input.yield(number) }
                input.finish()
            }
            await writer.value
            _ = await reader.value
        }
    }
}

/// Two tasks that answer one another through two streams; the cost of one element.
struct StreamPingPong: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let turns = 5000
        return await CostMeter.measure(seconds: seconds, operations: 2 * turns) {
            let (there, ping) = AsyncStream.makeStream(of: Int.self)
            let (back, pong) = AsyncStream.makeStream(of: Int.self)
            let answering = stage.detached {
                for await number in there { pong.yield(number) }
                pong.finish()
            }
            let asking = stage.detached {
                var answers = back.makeAsyncIterator()
                for number in 0..<turns {
                    ping.yield(number)
                    _ = await answers.next()
                }
                ping.finish()
            }
            await asking.value
            await answering.value
        }
    }
}

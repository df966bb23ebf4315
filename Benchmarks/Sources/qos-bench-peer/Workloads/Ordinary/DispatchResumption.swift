import BenchCore
import Dispatch

/// Tasks that a thread of Dispatch resumes, one after the other; the cost of one there and back.
struct DispatchResumption: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let resumptions = 5000
        let queue = DispatchQueue(label: "outside")
        return await CostMeter.measure(seconds: seconds, operations: resumptions) {
            await stage.detached {
                for _ in 0..<resumptions {
                    await withCheckedContinuation { continuation in
                        queue.async { continuation.resume() }
                    }
                }
            }.value
        }
    }
}

/// Calls of the main actor by a task elsewhere; the cost of one there and back.
struct MainActorCost: Workload {
    func run(on stage: Stage, seconds: Double) async -> RawFigures {
        let calls = 5000
        return await CostMeter.measure(seconds: seconds, operations: calls) {
            let task = stage.detached {
                var sum = 0
                for number in 0..<calls { sum &+= await Self.answer(number) }
                return sum
            }
            _ = await task.value
        }
    }

    @MainActor private static func answer(_ number: Int) -> Int { number }
}

import BenchCore
import QoSRuntime

/// Uncontended locks: locked and unlocked from one task; the cost of one such pair.
struct LockCost: Workload {
    /// Which lock.
    enum Kind: String {
        case ours = "qos-mutex"
        case standard = "mutex"
        case pthread = "pthread-mutex"
        case asyncMutex = "async-mutex"
        case asyncSemaphore = "async-semaphore"
    }

    let kind: Kind

    private static let pairs = 10_000

    func run(on stage: Stage, seconds: Double) async throws -> RawFigures {
        switch kind {
        case .ours: return await measure(OurLock(), stage, seconds)
        case .standard: return await measure(StandardLock(), stage, seconds)
        case .pthread: return await measure(PThreadLock(), stage, seconds)
        case .asyncMutex:
            let mutex = AsyncMutex(0)
            return await CostMeter.measure(seconds: seconds, operations: Self.pairs) {
                await stage.detached {
                    // Nobody else has it and nobody cancels, so nothing is thrown.
                    for _ in 0..<Self.pairs { try? await mutex.withLock { $0 &+= 1 } }
                }.value
            }
        case .asyncSemaphore:
            let semaphore = try AsyncSemaphore(permits: 1)
            return await CostMeter.measure(seconds: seconds, operations: Self.pairs) {
                await stage.detached {
                    for _ in 0..<Self.pairs { try? await semaphore.withPermit {} }
                }.value
            }
        }
    }

    private func measure<Lock: MeasuredLock>(_ lock: Lock, _ stage: Stage, _ seconds: Double) async -> RawFigures {
        await CostMeter.measure(seconds: seconds, operations: Self.pairs) {
            await stage.detached {
                for _ in 0..<Self.pairs { lock.add() }
            }.value
        }
    }
}

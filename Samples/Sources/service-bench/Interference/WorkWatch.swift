import Foundation
import Synchronization

/// Looks five times a second whether work is over, on a thread of its own.
final class WorkWatch: Sendable {
    private struct State {
        var isOver = false
        var result: Result<Double, any Error>?
    }

    private let state = Mutex(State())

    /// Whether the work is over, or failed.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Begins to look.
    func start(_ work: any BackgroundWork) {
        let begin = ContinuousClock.now
        Thread.detachNewThread {
            let result = Result {
                while try !work.isOver() { usleep(200_000) }
                return (ContinuousClock.now - begin) / .seconds(1)
            }
            self.state.withLock { $0 = State(isOver: true, result: result) }
        }
    }

    /// Returns the seconds that the work took.
    ///
    /// - Throws: The failure of the work, or ``BenchPlace/Failure`` if it is not over.
    func seconds() throws -> Double {
        guard let result = state.withLock({ $0.result }) else {
            throw BenchPlace.Failure(description: "the work was not over in time")
        }
        return try result.get()
    }
}

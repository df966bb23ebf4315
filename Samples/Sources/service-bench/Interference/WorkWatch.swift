import Foundation
import Synchronization

/// Looks twice a second how far work is, on a thread of its own. Each look is a request to our service.
final class WorkWatch: Sendable {
    /// The seconds that work took, and those until each part was done.
    struct Times {
        var all = 0.0
        var parts: [WorkPart: Double] = [:]
    }

    private let result = Mutex<Result<Times, any Error>?>(nil)

    /// Whether the work is over, or failed.
    var isOver: Bool { result.withLock { $0 != nil } }

    /// Begins to look.
    func start(_ work: any BackgroundWork) {
        let begin = ContinuousClock.now
        Thread.detachNewThread {
            let result = Result {
                var times = Times()
                while true {
                    let progress = try work.progress()
                    times.all = (ContinuousClock.now - begin) / .seconds(1)
                    for part in progress.done where times.parts[part] == nil { times.parts[part] = times.all }
                    if progress.isOver { return times }
                    usleep(500_000)
                }
            }
            self.result.withLock { $0 = result }
        }
    }

    /// Returns the times of the work.
    ///
    /// - Throws: The failure of the work, or ``BenchPlace/Failure`` if it is not over.
    func times() throws -> Times {
        guard let result = result.withLock({ $0 }) else {
            throw BenchPlace.Failure(description: "the work was not over in time")
        }
        return try result.get()
    }
}

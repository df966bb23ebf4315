import QoSEventLoop
import QoSKernel

/// A source whose watch is still to be made, on the loop's thread.
struct PendingSource<Event: Sendable> {
    let core: SourceCore<Event>

    /// Makes the watch, and lets it end with the source. The loop's thread.
    let watch: @Sendable () throws(EventLoopError) -> Void

    /// Makes the watch; the calling task waits.
    func begin() async throws(WorkQueueError) -> WorkSource {
        do throws(EventLoopError) {
            try await core.scheduler.loop.perform(watch)
        } catch {
            throw .sourceUnavailable(error.description)
        }
        return WorkSource(core)
    }

    /// Makes the watch; the calling thread waits.
    func beginBlocking() throws(WorkQueueError) -> WorkSource {
        let loop = core.scheduler.loop
        let (outcome, wait) = (Outcome(), ThreadWait())
        do throws(EventLoopError) {
            if loop.isOnLoopThread {
                try watch()
            } else {
                try loop.submit { [watch] in
                    outcome.value.withLock { $0 = Result(catching: watch) }
                    wait.parker.unpark()
                }
                wait.parker.park()
                try outcome.value.withLock { $0 }.get()
            }
        } catch {
            throw .sourceUnavailable(error.description)
        }
        return WorkSource(core)
    }

    private final class Outcome: Sendable {
        let value = Lock(Result<Void, EventLoopError>.success(()))
    }
}

import QoSEventLoop
import QoSKernel

/// A source whose watch is not made yet. The loop's thread makes it.
struct PendingSource<Event: Sendable> {
    let core: SourceCore<Event>

    /// Makes the watch, and lets it end with the source. On the loop's thread.
    let watch: @Sendable () throws(EventLoopError) -> Void

    /// Makes the watch and suspends the calling task until then.
    func begin() async throws(WorkQueueError) -> WorkSource {
        do throws(EventLoopError) {
            try await core.scheduler.loop.perform(watch)
        } catch {
            throw .sourceUnavailable(error.description)
        }
        return WorkSource(core)
    }

    /// Makes the watch and blocks the calling thread until then.
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

import QoSCore
import Synchronization

/// The timers of a scheduler: requests from any thread, one queue and one kernel timer on the loop's thread.
///
/// A request is pushed to a lock-free list. The loop is woken for it only when it has to fire before the moment for which
/// the kernel timer is armed; else the loop finds it when it wakes next, which is early enough. So no thread ever waits
/// for another one's lock to set a timer, and timers whose windows overlap cost one wake-up (rule S6).
///
/// The race between a request and the loop that goes to sleep: the request is published before `armed` is read, the loop
/// publishes `armed` before it looks at the requests for the last time; both sequentially consistent. One of the two
/// sees the other.
// SAFETY: `queue` belongs to the loop's thread; the rest is atomic.
final class TimerService: @unchecked Sendable {
    /// What a timer does when it fires, on the loop's thread.
    enum Payload {
        /// Gives a job to the executor it was submitted to.
        case job(UnownedJob, executor: PoolExecutor)
        /// Adds an entry to its work queue.
        case entry(WorkEntry)
        /// Calls a body; short, since it holds up the loop.
        case body(@Sendable () -> Void)
    }

    private final class Request {
        let deadline: UInt64
        let tolerance: UInt64
        let payload: Payload
        var next: UInt = 0

        init(deadline: UInt64, tolerance: UInt64, payload: Payload) {
            self.deadline = deadline
            self.tolerance = tolerance
            self.payload = payload
        }
    }

    private let requests = Atomic<UInt>(0)

    /// For when the kernel timer is armed; `UInt64.max` when it is not. A timer that fires later than this needs no wake-up.
    private let armed = Atomic<UInt64>(.max)

    private var queue = TimerQueue<Payload>()

    /// Whether the loop wakes up for a timer. Any thread.
    var isArmed: Bool { armed.load(ordering: .sequentiallyConsistent) != .max }

    /// Asks for a timer. Any thread; one allocation.
    ///
    /// - Parameters:
    ///   - deadline: monotonic nanoseconds; it never fires before.
    ///   - tolerance: nanoseconds after `deadline` within which it fires, as far as the kernel runs the loop's thread.
    /// - Returns: whether the loop has to be woken.
    func add(deadline: UInt64, tolerance: UInt64, _ payload: Payload) -> Bool {
        let request = Request(deadline: deadline, tolerance: tolerance, payload: payload)
        // SAFETY: the list owns the request until `takeRequests` has taken it back.
        let address = UInt(bitPattern: unsafe Unmanaged.passRetained(request).toOpaque())
        var head = requests.load(ordering: .relaxed)
        while true {
            request.next = head
            let (exchanged, original) = requests.weakCompareExchange(
                expected: head, desired: address, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
            if exchanged { break }
            head = original
        }
        let (latest, overflows) = deadline.addingReportingOverflow(tolerance)
        return (overflows ? .max : latest) < armed.load(ordering: .sequentiallyConsistent)
    }

    /// Fires what is due, if a window ends, and says for when to arm the kernel timer. The loop's thread.
    ///
    /// Where the loop has woken for something else, nothing fires: each of those looks would wake a worker for the few timers that
    /// have become due since the last one (rule S6).
    ///
    /// - Parameter fire: called once for each timer that is due, in the order of the deadlines.
    /// - Returns: monotonic nanoseconds; `nil` when there is no timer.
    func advance(now: () -> UInt64, fire: (Payload) -> Void) -> UInt64? {
        while true {
            takeRequests { queue.insert(deadline: $0.deadline, tolerance: $0.tolerance, $0.payload) }
            let time = now()
            if let end = queue.nextWake, end <= time {
                while let payload = queue.popExpired(now: time) { fire(payload) }
            }
            let next = queue.nextWake
            armed.store(next ?? .max, ordering: .sequentiallyConsistent)
            if requests.load(ordering: .sequentiallyConsistent) == 0 { return next }
        }
    }

    /// Takes out every timer that has not fired, with its deadline, at shutdown. The loop's thread.
    func removeAll(_ body: (_ deadline: UInt64, Payload) -> Void) {
        removeRequests(body)
        while let deadline = queue.nextDeadline, let payload = queue.popExpired(now: .max) { body(deadline, payload) }
    }

    /// Takes out the requests that have not reached the queue, with their deadlines. Any thread.
    func removeRequests(_ body: (_ deadline: UInt64, Payload) -> Void) {
        takeRequests { body($0.deadline, $0.payload) }
    }

    private func takeRequests(_ body: (Request) -> Void) {
        var address = requests.exchange(0, ordering: .sequentiallyConsistent)
        // SAFETY: each request was retained when it was published, and is taken over here once.
        while let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
            let request = unsafe Unmanaged<Request>.fromOpaque(pointer).takeRetainedValue()
            address = request.next
            body(request)
        }
    }
}

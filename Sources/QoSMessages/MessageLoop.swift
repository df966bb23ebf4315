import QoSCore
import QoSEventLoop
import QoSKernel
import QoSRuntime

// The event loop of all connections of the process: one thread, which reads sockets, accepts connections and keeps
// deadlines. It begins with the first connection and lasts as long as the process. Without traffic it never wakes.
//
// It runs no handler. But a peer's cancel or raise reaches the handler's task from here, and Swift calls the cancellation
// and escalation handlers of a task on the thread that cancels or raises it. They must be short. The thread's level is
// userInteractive, because every request of every class waits for it.

/// The loop of the process's connections.
final class MessageLoop: Sendable {
    /// The loop; `nil` if the system had no thread or descriptor for it.
    static let shared: MessageLoop? = try? MessageLoop()

    private struct Alarm {
        let time: UInt64
        /// Keeps the owner until the alarm rings.
        let ring: @Sendable () -> Void
    }

    /// The alarms, and the loop's timer.
    ///
    /// Lock order: this lock is taken under none, and nothing is called under it but the timer's system call.
    private struct Alarms {
        var loop: EventLoop?
        var entries: [ObjectIdentifier: Alarm] = [:]
        /// The monotonic time for which the timer is set.
        var armed = UInt64.max

        mutating func arm(_ time: UInt64) {
            armed = time
            // The kernel's timer counts the time in which the machine is suspended; the alarms do not.
            loop?.armTimer(atNanoseconds: time.addingSaturating(SuspendedTime.nanoseconds()))
        }

        mutating func takeDue(_ now: UInt64) -> [Alarm] {
            let due = entries.filter { $0.value.time <= now }
            for key in due.keys { entries[key] = nil }
            armed = .max
            if let next = entries.values.map(\.time).min() { arm(next) }
            return Array(due.values)
        }
    }

    let loop: EventLoop
    private let alarms: AlarmBook

    private final class AlarmBook: Sendable {
        let content = Lock(Alarms())
    }

    private init() throws {
        let alarms = AlarmBook()
        loop = try EventLoop(
            onWake: {},
            onTimer: {
                for alarm in alarms.content.withLock({ $0.takeDue(MonotonicClock.nanoseconds()) }) { alarm.ring() }
            })
        self.alarms = alarms
        alarms.content.withLock { [loop] in $0.loop = loop }
        let thread = QoSThread(name: "qos-messages", level: .userInteractive) { [loop] in try loop.run() }
        try thread.start()
    }

    /// Sets the one alarm of an object, or takes it back. The earlier one stays. Any thread.
    ///
    /// - Parameters:
    ///   - time: monotonic nanoseconds; `nil` for none.
    ///   - ring: called on the loop's thread. The object lives until then.
    func setAlarm<Owner: AnyObject & Sendable>(
        for owner: Owner, at time: UInt64?, _ ring: @escaping @Sendable (Owner) -> Void
    ) {
        let key = ObjectIdentifier(owner)
        let old = alarms.content.withLock { alarms -> Alarm? in
            guard let time else { return alarms.entries.removeValue(forKey: key) }
            // Two threads may come here in the other order than they decided. An alarm that rings early does no harm.
            if let old = alarms.entries[key], old.time <= time { return nil }
            if time < alarms.armed { alarms.arm(time) }
            return alarms.entries.updateValue(Alarm(time: time) { ring(owner) }, forKey: key)
        }
        // Not under the lock: the last reference to an owner may go.
        withExtendedLifetime(old) {}
    }

    /// Runs a body on the loop's thread, soon. Any thread.
    func submit(_ body: @escaping @Sendable () -> Void) {
        // The loop never stops.
        try? loop.submit(body)
    }
}

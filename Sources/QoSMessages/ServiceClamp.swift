import QoSKernel
import QoSRuntime

// A service that no peer needs is clamped to background (rule M3): the decision as a value, and its driver.
//
//   connection: holds of a peer ─┐
//   connection: holds of a peer ─┼→ ServiceClamp: is anything held? → ClampMachine, 50 ms → SchedulerClamp
//   connection: holds of a peer ─┘
//
// A connection tells the clamp only that its peer holds something now, or nothing any more. It does so before it starts
// the handler, so that the handler does not begin in background's pool.

/// Whether a service is clamped. Time is an argument, in nanoseconds.
struct ClampMachine: Sendable {
    /// The time without a hold after which the clamp begins.
    static let patience: UInt64 = 50_000_000

    private enum Phase { case idle, running, ended }

    private var phase = Phase.idle
    private var isHeld = false
    private(set) var isClamped = false
    /// The time at which the clamp begins, unless something is held before.
    private var clampsAt: UInt64?
    /// The time for which the driver's alarm is set, and whether the driver knows it.
    private var alarm: UInt64?
    private var alarmIsNew = false

    /// The service's say in the clamp of its scheduler; `nil` before its begin and after its end.
    var say: Bool? { phase == .running ? isClamped : nil }

    /// Begins: from now on the service is clamped while nothing is held. Once.
    mutating func begin(now: UInt64) {
        guard phase == .idle else { return }
        phase = .running
        settle(now)
    }

    /// Ends: the service is not clamped any more.
    mutating func end() {
        phase = .ended
        (isClamped, clampsAt) = (false, nil)
    }

    /// Notes whether some peer holds something.
    mutating func holdsChanged(isHeld: Bool, now: UInt64) {
        guard isHeld != self.isHeld else { return }
        self.isHeld = isHeld
        settle(now)
    }

    private mutating func settle(_ now: UInt64) {
        guard phase == .running else { return }
        if isHeld {
            (isClamped, clampsAt) = (false, nil)
        } else {
            let (time, overflows) = now.addingReportingOverflow(Self.patience)
            clampsAt = overflows ? .max : time
            if alarm == nil { setAlarm(clampsAt) }
        }
    }

    /// Notes that the alarm has rung, perhaps too early. One alarm serves all holds that come and go meanwhile.
    mutating func alarmRang(now: UInt64) {
        alarm = nil
        guard let clampsAt else { return }
        if now >= clampsAt {
            isClamped = true
            self.clampsAt = nil
        } else {
            setAlarm(clampsAt)
        }
    }

    private mutating func setAlarm(_ time: UInt64?) {
        alarm = time
        alarmIsNew = true
    }

    /// Returns the time for which the driver has to set its alarm; `nil` for no change.
    mutating func takeAlarm() -> UInt64? {
        defer { alarmIsNew = false }
        return alarmIsNew ? alarm : nil
    }
}

/// Clamps the scheduler of a service while no peer holds importance.
///
/// Threading: any thread. Lock order: this lock, then that of a connection or of the scheduler's clamp.
final class ServiceClamp: Sendable {
    /// The clock and the alarm. Tests have their own.
    struct Timer: Sendable {
        /// Returns the time in nanoseconds.
        var now: @Sendable () -> UInt64
        /// Sets the alarm, which calls ``ServiceClamp/alarmRings()``.
        var set: @Sendable (ServiceClamp, UInt64) -> Void

        static let monotonic = Timer(
            now: { MonotonicClock.nanoseconds() },
            set: { clamp, time in MessageLoop.shared?.setAlarm(for: clamp, at: time) { $0.alarmRings() } })
    }

    private struct State {
        var machine = ClampMachine()
        /// The connections whose peers hold something.
        var holders: Set<ObjectIdentifier> = []
    }

    private let scheduler: SchedulerClamp
    private let timer: Timer
    private let state = Lock(State())

    init(_ scheduler: QoSScheduler, _ timer: Timer) {
        (self.scheduler, self.timer) = (SchedulerClamp(scheduler), timer)
    }

    /// Whether the scheduler is clamped. Another service on it may keep it from that.
    var isClamped: Bool { scheduler.isOn }

    func begin() { act { state, now in state.machine.begin(now: now) } }

    func end() { act { state, _ in state.machine.end() } }

    func alarmRings() { act { state, now in state.machine.alarmRang(now: now) } }

    /// Looks at the holds of a connection's peer, which have begun or ended.
    func holdsChanged(of connection: Connection) {
        act { state, now in
            // Read here: two threads may come in the other order than they changed the holds.
            if connection.isHeld {
                state.holders.insert(ObjectIdentifier(connection))
            } else {
                state.holders.remove(ObjectIdentifier(connection))
            }
            state.machine.holdsChanged(isHeld: !state.holders.isEmpty, now: now)
        }
    }

    private func act(_ body: (inout State, UInt64) -> Void) {
        let now = timer.now()
        let (alarm, isOver) = state.withLock { state -> (UInt64?, Bool) in
            body(&state, now)
            return (state.machine.takeAlarm(), scheduler.set(state.machine.say))
        }
        // Under no lock: both may make system calls.
        if isOver { scheduler.workReturns() }
        if let alarm { timer.set(self, alarm) }
    }
}

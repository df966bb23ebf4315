internal import QoSCore

/// The state of a virtual clock: the time and the sleepers. It does not wake sleepers itself.
///
/// - Complexity: O(log sleepers) an event.
struct VirtualClockState {
    /// Resumed with whether the clock has woken the sleeper; see ``wakes``.
    typealias Sleeper = CheckedContinuation<Bool, any Error>
    typealias Observer = CheckedContinuation<Void, Never>

    /// An answer to a new sleeper.
    enum Answer {
        /// Wait. These observers have waited for this number of sleepers.
        case waits([Observer])
        case isPast
        case wasCancelled
    }

    /// The sleepers and calls to wake.
    enum Due {
        case sleeper(Sleeper)
        case action(@Sendable () -> Void)
    }

    private enum Stage {
        case registered
        case cancelled
        case waiting(TimerSet<Payload>.Name, Sleeper)
    }

    private enum Payload {
        case sleeper(Int)
        case action(@Sendable () -> Void)
    }

    private(set) var now: UInt64 = 0
    /// The sleepers that were woken and whose tasks have not gone on yet.
    private(set) var wakes = 0
    private var timers = TimerSet<Payload>()
    private var stages: [Int: Stage] = [:]
    private var lastSleeper = 0
    private var observers: [(count: Int, observer: Observer)] = []

    var sleepers: Int { timers.count }
    var nextWake: UInt64? { timers.nextWake }

    /// Registers a sleeper, which may be cancelled from now on.
    mutating func register() -> Int {
        lastSleeper += 1
        stages[lastSleeper] = .registered
        return lastSleeper
    }

    mutating func sleeps(_ sleeper: Int, until deadline: UInt64, tolerance: UInt64, _ continuation: Sleeper) -> Answer {
        if case .cancelled? = stages[sleeper] {
            stages[sleeper] = nil
            return .wasCancelled
        }
        guard deadline > now else {
            stages[sleeper] = nil
            return .isPast
        }
        let window = TimerWindow(deadline: deadline, tolerance: tolerance, isPrompt: false)
        let timer = timers.insert(window, .sleeper(sleeper))
        stages[sleeper] = .waiting(timer, continuation)
        return .waits(takeObservers())
    }

    /// Notes that the task of a woken sleeper goes on.
    mutating func goesOn() { wakes -= 1 }

    mutating func calls(within window: TimerWindow, _ body: @escaping @Sendable () -> Void) -> [Observer] {
        timers.insert(window, .action(body))
        return takeObservers()
    }

    /// Cancels a sleeper.
    ///
    /// - Returns: the continuation to resume; `nil` if the sleeper does not wait yet, or no longer waits.
    mutating func cancelled(_ sleeper: Int) -> Sleeper? {
        switch stages[sleeper] {
        case .registered?:
            stages[sleeper] = .cancelled
            return nil
        case .waiting(let timer, let continuation)?:
            _ = timers.cancel(timer)
            stages[sleeper] = nil
            return continuation
        case .cancelled?, nil:
            return nil
        }
    }

    /// Moves to the next due sleeper before a time, or to that time.
    ///
    /// - Returns: the sleepers to wake before the next call; `nil` if the clock has reached the time and no sleeper is
    ///   due.
    mutating func advance(to time: UInt64) -> Due? {
        while true {
            if let payload = timers.popExpired(now: now) {
                if let due = due(payload) { return due }
                continue
            }
            guard now < time else { return nil }
            now = min(time, max(now, timers.nextWake ?? time))
        }
    }

    /// Registers an observer for a number of sleepers.
    ///
    /// - Returns: whether that many sleep already. The observer is then not kept.
    mutating func observes(count: Int, _ observer: Observer) -> Bool {
        if timers.count >= count { return true }
        observers.append((count, observer))
        return false
    }

    private mutating func due(_ payload: Payload) -> Due? {
        switch payload {
        case .action(let action): return .action(action)
        case .sleeper(let sleeper):
            guard case .waiting(_, let continuation)? = stages.removeValue(forKey: sleeper) else { return nil }
            wakes += 1
            return .sleeper(continuation)
        }
    }

    private mutating func takeObservers() -> [Observer] {
        let ready = observers.filter { $0.count <= timers.count }.map(\.observer)
        observers.removeAll { $0.count <= timers.count }
        return ready
    }
}

import QoSCore

extension BackgroundActivityResult {
    init(_ ending: ActivityMachine.Ending) {
        switch ending {
        case .finished: self = .finished
        case .deferred: self = .deferred
        case .failed(let error): self = .failed(error)
        case .cancelled: self = .cancelled
        }
    }
}

extension BackgroundActivityState {
    init(_ machine: inout ActivityMachine, obstacle: String?, at now: ClockReading) {
        activity = machine.activity
        phase =
            switch machine.phase(at: now, obstacle: obstacle) {
            case .waits(let nanoseconds): .waits(for: .nanoseconds(nanoseconds))
            case .waitsForConditions(let reason): .waitsForConditions(reason)
            case .runs(let nanoseconds, nil): .runs(for: .nanoseconds(nanoseconds))
            case .runs(let nanoseconds, let reason?): .isAskedToDefer(reason, runsFor: .nanoseconds(nanoseconds))
            case .ended: .ended
            }
        runs = machine.endings
        lastResult = machine.lastEnding.map(BackgroundActivityResult.init)
        lastDuration = .nanoseconds(machine.lastDuration)
    }
}

import QoSCore
import QoSTesting

/// A machine whose clocks a test moves.
struct ActivityWorld {
    /// The true time since the beginning, which no clock shows. Milliseconds.
    private(set) var time: Int64 = 0
    private var boot = 0
    private var bootedAt: Int64 = 0
    private var wallOffset: Int64 = 0

    /// The clocks.
    var reading: ClockReading {
        ClockReading(
            continuous: (time - bootedAt) * 1_000_000, wall: (time + wallOffset) * 1_000_000, boot: "\(boot)")
    }

    mutating func pass(_ milliseconds: Int64) {
        time += milliseconds
    }

    /// Somebody sets the wall clock.
    mutating func setWallClock(by milliseconds: Int64) {
        wallOffset += milliseconds
    }

    /// The machine is off for a time.
    mutating func restart(after milliseconds: Int64) {
        time += milliseconds
        bootedAt = time
        boot += 1
    }
}

/// The rule of rule S5 as a definition: the window follows from all runs so far, one after the other.
struct ActivityOracle {
    struct Run {
        let began: Int64
        var ended: Int64?
        var isDeferred = false
    }

    let interval: Int64
    let tolerance: Int64
    let retryDelay: Int64
    let skips: Bool
    let repeats: Bool
    var runs: [Run] = []

    /// The beginning of the window that counts at a time; `nil` if no run follows.
    func due(at time: Int64) -> Int64? {
        var due = interval
        var notBefore: Int64 = 0
        for run in runs {
            due = skipped(due, at: max(run.began, notBefore))
            guard let ended = run.ended else { continue }
            if run.isDeferred {
                notBefore = ended + retryDelay
            } else {
                guard repeats else { return nil }
                due = max(due + interval, run.began + interval - tolerance)
            }
        }
        return skipped(due, at: max(time, notBefore))
    }

    /// The earliest beginning of the next run.
    func earliest(at time: Int64) -> Int64? {
        guard let due = due(at: time) else { return nil }
        guard let last = runs.last, last.isDeferred, let ended = last.ended else { return due }
        return max(due, ended + retryDelay)
    }

    private func skipped(_ due: Int64, at time: Int64) -> Int64 {
        guard skips, repeats else { return due }
        var due = due
        while due + tolerance < time { due += interval }
        return due
    }
}

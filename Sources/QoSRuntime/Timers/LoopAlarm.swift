import QoSCore
import QoSEventLoop
import QoSKernel

/// The loop's only kernel timer. It serves the loop itself and the timers of the pools.
///
/// Threading: any thread. The kernel timer is set under the lock, so the latest setting stands.
final class LoopAlarm: Sendable {
    private struct Times {
        var own: UInt64 = .max
        /// By rank.
        var pools = Array(repeating: UInt64.max, count: QoSClass.allCases.count)

        var earliest: UInt64 { pools.reduce(own, min) }
    }

    private let times = Lock(Times())
    private let loop: EventLoop

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Sets the alarm for the loop's own work. The loop's thread.
    ///
    /// - Parameter time: monotonic nanoseconds; `nil` for none.
    func set(for time: UInt64?) {
        times.withLock { times in
            times.own = time ?? .max
            arm(times.earliest)
        }
    }

    /// Sets the alarm for the timers of a pool. Any thread; makes a system call only if the earliest time changes.
    ///
    /// - Parameters:
    ///   - time: monotonic nanoseconds; `UInt64.max` for none.
    ///   - rank: the rank of the pool's class.
    func set(for time: UInt64, rank: Int) {
        times.withLock { times in
            let before = times.earliest
            times.pools[rank] = time
            if times.earliest != before { arm(times.earliest) }
        }
    }

    private func arm(_ time: UInt64) {
        // The kernel timer counts suspensions: a timer that does, too, is due when the machine is back. For another one,
        // the loop wakes too early then, and sets the alarm anew.
        loop.armTimer(
            atNanoseconds: time == .max ? nil : time.addingSaturating(SuspendedTime.nanoseconds()))
    }
}

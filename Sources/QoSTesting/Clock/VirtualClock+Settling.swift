// Moving the clock for tasks that run on their own executors.

extension VirtualClock {
    /// Moves the clock forward from sleeper to sleeper, and lets the woken tasks run in between. Sleeps that they begin
    /// meanwhile end within the same call.
    ///
    /// ``advance(by:)`` wakes all due sleepers at once and does not wait for their tasks. This call settles first, after
    /// each step, and at the end: it waits until all woken tasks run, and then guesses when they sleep or end; see
    /// ``settle()``. On a ``DeterministicScheduler``, use its own ``DeterministicScheduler/advance(by:)``: it needs no
    /// guess.
    ///
    /// - Parameter duration: The time to pass. A duration below zero counts as zero.
    public func advanceAndSettle(by duration: Duration) async {
        await pass(to: now.advanced(by: max(.zero, duration)))
    }

    /// Moves the clock forward until no task sleeps, and lets the woken tasks run in between.
    ///
    /// - Parameter limit: The time that may pass. Later sleepers stay.
    /// - Returns: whether no task sleeps.
    @discardableResult
    public func runUntilIdle(within limit: Duration = .seconds(3600)) async -> Bool {
        let end = now.advanced(by: max(.zero, limit))
        await settleWoken()
        while let next = nextWake, next <= end {
            advance(to: next)
            await settleWoken()
        }
        return sleepers == 0
    }

    private func pass(to end: Instant) async {
        await settleWoken()
        while let next = nextWake, next <= end {
            advance(to: next)
            await settleWoken()
        }
        advance(to: end)
        await settleWoken()
    }

    /// Waits until the tasks of all woken sleepers have gone on, and settles.
    ///
    /// A busy executor may take long to come to them. One that does not run at all is not waited for.
    private func settleWoken() async {
        var rounds = 0
        while wakes > 0, rounds < 10_000 {
            rounds += 1
            await Task<Void, Never>.detached(priority: .background) { await Task.yield() }.value
        }
        await Self.settle()
    }

    /// Lets other tasks run before the caller goes on.
    ///
    /// No executor reports when its tasks wait. So the call lets twenty background tasks pass one after another. That
    /// is enough for code that suspends a few times between two sleeps. If it is not, ``waitForSleepers(_:)`` is exact.
    public static func settle() async {
        for _ in 0..<20 {
            await Task<Void, Never>.detached(priority: .background) { await Task.yield() }.value
        }
    }
}

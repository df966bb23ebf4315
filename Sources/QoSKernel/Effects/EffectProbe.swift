internal import Glibc

/// Finds out which scheduling changes the kernel allows this process, by trying them on a throw-away thread.
package enum EffectProbe {
    /// Tries every capability on a thread of its own; the calling thread stays as it is.
    ///
    /// Costs some 100 µs: run it once and keep the result. Any thread may call it. The result holds for threads with
    /// the caller's nice value and policy.
    ///
    /// - Returns: the refused knobs; all of them, with the error, if the process cannot create a thread.
    package static func run(calls: any SchedulingCalls = LinuxSchedulingCalls()) -> EffectCapabilities {
        let creator = ThreadID.current
        let found = Findings()
        do throws(KernelError) {
            let thread = try Thread(name: "qos-probe", calls: calls) {
                found.set(refusals(onCallingThreadOf: calls, creator: creator))
            }
            try thread.join()
        } catch {
            found.set(Dictionary(uniqueKeysWithValues: EffectCapability.allCases.map { ($0, error) }))
        }
        return EffectCapabilities(refusals: found.get())
    }

    /// Runs on the thread that is thrown away. IDLE comes last: there may be no way out of it.
    private static func refusals(
        onCallingThreadOf calls: any SchedulingCalls, creator: ThreadID
    ) -> [EffectCapability: KernelError] {
        let thread = ThreadID.current
        var refusals: [EffectCapability: KernelError] = [:]
        func attempt(_ capability: EffectCapability, _ action: () throws(KernelError) -> Void) {
            do throws(KernelError) { try action() } catch { refusals[capability] = error }
        }
        /// By the call that sets everything, as the effects are applied; by nice's own where that is denied.
        func setNice(_ nice: Int) throws(KernelError) {
            do throws(KernelError) {
                try calls.setScheduling(Scheduling(policy: .other, nice: nice), of: thread)
            } catch {
                try calls.setNice(nice, of: thread)
            }
        }
        let start = (try? calls.nice(of: thread)) ?? 0

        attempt(.policy) { () throws(KernelError) in
            try calls.setScheduling(Scheduling(policy: .batch, nice: start), of: thread)
            try calls.setScheduling(Scheduling(policy: .other, nice: start), of: thread)
        }
        attempt(.slice) { () throws(KernelError) in
            let wanted = Scheduling(policy: .other, nice: start, slice: 500_000)
            try calls.setScheduling(wanted, of: thread)
            // Kernels without slices accept one and forget it.
            guard try calls.scheduling(of: thread).slice == wanted.slice else {
                throw KernelError(.getScheduling, code: EOPNOTSUPP, subject: "\(thread) (\(wanted))")
            }
            try calls.setScheduling(Scheduling(policy: .other, nice: start), of: thread)
        }
        attempt(.ioPriority) { () throws(KernelError) in
            try calls.setIOPriority(.idle, of: thread)
            try calls.setIOPriority(.bestEffort(level: 4), of: thread)
        }
        attempt(.timerSlack) { () throws(KernelError) in
            try calls.setTimerSlack(nanoseconds: 50_000, of: thread)
        }
        // Reading needs the same right as writing, and changes nothing.
        attempt(.timerSlackOfSibling) { () throws(KernelError) in _ = try calls.timerSlack(of: creator) }
        attempt(.affinity) { () throws(KernelError) in
            try calls.setAffinity(try calls.affinity(of: thread), of: thread)
        }

        let worst = Scheduling.niceRange.upperBound
        attempt(.niceDown) { () throws(KernelError) in try setNice(min(start + 1, worst)) }
        attempt(.niceUp) { () throws(KernelError) in
            if let refusal = refusals[.niceDown] { throw refusal }
            try setNice(min(start, worst - 1))
        }
        attempt(.niceBelowZero) { () throws(KernelError) in try setNice(-12) }

        attempt(.idleIn) { () throws(KernelError) in
            try calls.setScheduling(Scheduling(policy: .idle), of: thread)
        }
        attempt(.idleOut) { () throws(KernelError) in
            if let refusal = refusals[.idleIn] { throw refusal }
            try calls.setScheduling(Scheduling(policy: .other, nice: try calls.nice(of: thread)), of: thread)
        }
        return refusals
    }
}

/// Carries the findings from the thread that is thrown away.
private final class Findings: Sendable {
    private let refusals = Lock<[EffectCapability: KernelError]>([:])

    func set(_ found: [EffectCapability: KernelError]) {
        refusals.withLock { $0 = found }
    }

    func get() -> [EffectCapability: KernelError] {
        refusals.withLock { $0 }
    }
}

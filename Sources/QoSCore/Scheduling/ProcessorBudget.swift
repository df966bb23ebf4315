/// The decision how much of a control group's quota of processor time the low classes may spend now: a plain value.
///
/// A group that has used its quota is stopped whole until the kernel's next period, whatever the nice values say. So
/// what the low classes spend is what the high ones lack a moment later. This value holds the low classes back, at job
/// boundaries, so that the high ones find what they need.
///
/// Low are the classes below userInitiated. High is all else that spends from the quota: our high classes, other threads
/// of the process, other processes of the group.
///
/// Two lines bound the use of the group within a period. The low classes are held while it is above either.
///
/// - **The even line**: the quota times the elapsed part of the period, and a little more. So low work spends evenly. Its
///   own share of the rest of the period is what a burst of high work takes first.
/// - **The end line**: the quota less the reserve for the rest of the period. The reserve is what the high classes will
///   need by their latest rate, and the largest burst above it that was seen lately. A burst is the backlog that the
///   high use would leave in a bucket that drains at a rate between their mean and the quota's.
///
/// The kernel's periods begin at multiples of the period, on the clock of the caller, from an unknown time. The count of
/// periods in `cpu.stat` shows it: each change narrows it. While it is unknown, a token bucket takes the place of both
/// lines. A period in which the group was stopped although low work ran makes the reserve larger for a while. The
/// kernel's slices for each processor, and the lateness of its accounts, are found that way.
///
/// A class that has waited for its worst-case wait gets a quantum all the same (rule C7), at the cost of the later low
/// work. `Docs/Inside/Decisions/0038-a-budget-for-low-classes.md` has the reasons and the figures.
///
/// Amounts are nanoseconds of processor time. Threading: a value. Complexity: O(1) for each call; nothing allocates.
package struct ProcessorBudget: Sendable {
    /// The limit of the group.
    package struct Quota: Sendable, Hashable {
        /// The processor time of each period.
        package let amount: Double
        /// The length of a period, nanoseconds.
        package let period: Double
        /// The most that the kernel carries over from periods with less use (`cpu.max.burst`).
        package let burst: Double
        /// The number of processors on which the process may run at a time.
        package let processors: Double

        /// Makes a limit from microseconds.
        ///
        /// - Returns: `nil` if it is zero, if the processors cannot use it up, and for a period above an hour.
        package init?(amount: UInt64, period: UInt64, burst: UInt64 = 0, processors: Int) {
            let most = Double(max(1, processors))
            guard amount > 0, period > 0, period <= 3_600_000_000, Double(amount) < Double(period) * most else {
                return nil
            }
            self.amount = Double(amount) * 1000
            self.period = Double(period) * 1000
            self.burst = min(Double(burst) * 1000, self.amount)
            self.processors = most
        }

        /// The limit as a number of processors.
        package var rate: Double { amount / period }

        /// The least amount for which the low classes are let go, and held again. Each time costs wake-ups, which are
        /// paid from the quota, too.
        var step: Double { min(max(amount / 10, 500_000), amount / 3, 8_000_000) }
    }

    /// The use so far.
    package struct Reading: Sendable {
        /// The processor time of the group, from any origin.
        package var total: UInt64
        /// The part of it that the low classes used, from any origin.
        package var low: UInt64
        /// The kernel's counts, if they were read now.
        package var counts: Counts?

        /// Puts a reading together.
        package init(total: UInt64, low: UInt64, counts: Counts? = nil) {
            (self.total, self.low, self.counts) = (total, low, counts)
        }
    }

    /// The kernel's counts of periods, and of those in which it stopped the group.
    package struct Counts: Sendable, Hashable {
        package var periods: UInt64
        package var throttled: UInt64

        /// Makes counts.
        package init(periods: UInt64, throttled: UInt64) {
            (self.periods, self.throttled) = (periods, throttled)
        }
    }

    /// The state of the low work at a decision.
    package struct LowWork: Sendable {
        /// The low classes that have work.
        package var wanting = QoSClassSet()
        /// What the jobs that run are expected to use until they end.
        package var committed: Double = 0
        /// The classes with a job in progress. It may get no processor.
        package var running = QoSClassSet()
        /// What a job of the class uses as a rule, by rank; the three low classes.
        package var usual = InlineArray<3, Double>(repeating: 0)
        /// What the class has used so far, by rank. Nanoseconds.
        package var used = InlineArray<3, UInt64>(repeating: 0)

        /// Describes classes without work.
        package init() {}
    }

    /// The answer: the classes that take no jobs, and the times of the next look.
    package struct Decision: Sendable, Equatable {
        /// The classes that take no jobs.
        package var held: QoSClassSet
        /// The time at which the use is to be read again, by a low worker before its next job.
        package var lookAt: SchedulerInstant
        /// The time at which somebody else has to read it. It is later while low workers are expected to do so.
        package var lookWithoutWorkerAt: SchedulerInstant

        /// Puts an answer together.
        package init(held: QoSClassSet, lookAt: SchedulerInstant, lookWithoutWorkerAt: SchedulerInstant? = nil) {
            (self.held, self.lookAt) = (held, lookAt)
            self.lookWithoutWorkerAt = lookWithoutWorkerAt ?? lookAt
        }
    }

    /// The numbers of what has happened so far.
    package struct Tally: Sendable, Hashable {
        /// The periods in which the kernel stopped the group.
        package var throttled: UInt64 = 0
        /// Those of them in which low work had run.
        package var throttledBesideLow: UInt64 = 0
        /// The periods that were counted.
        package var periods: UInt64 = 0
        /// The number of times that low classes were held.
        package var holds: UInt64 = 0
        /// The number of times that a starving class was let go above the lines.
        package var windows: UInt64 = 0

        /// Makes a tally of nothing.
        package init() {}
    }

    /// The classes that the budget holds back.
    package static let low: QoSClassSet = [
        QoSClassSet(.default), QoSClassSet(.utility), QoSClassSet(.background),
    ]

    /// The limit.
    package let quota: Quota

    /// The numbers of what has happened.
    package private(set) var tally = Tally()

    private let waits: InlineArray<3, Double>
    private var latest: (reading: Reading, at: SchedulerInstant)?
    private var counted: (counts: Counts, at: SchedulerInstant)?
    /// The use that came to light before the processors can have given it. It counts in the next readings.
    private var ahead: (total: Double, low: Double) = (0, 0)
    private var began: SchedulerInstant
    private var used: Double = 0
    private var lowUsed: Double = 0
    private var lowUsedBefore: Double = 0
    private var carried: Double = 0
    private var bucket: Double
    private var highRate: Double = 0
    private var backlog: Double = 0
    private var peak: Double = 0
    private var margin: Double = 0
    /// The times between which a period began; `nil` while that is unknown.
    private var phase: (earliest: SchedulerInstant, latest: SchedulerInstant)?
    private var held = QoSClassSet()
    /// The time at which the class wanted nothing or had used a quantum, and what it had used then.
    private var served: InlineArray<3, SchedulerInstant>
    private var usedThen = InlineArray<3, UInt64>(repeating: 0)
    private var granted = QoSClassSet()

    /// Makes the budget of a group of which nothing is known yet.
    package init(
        quota: Quota, parameters: SchedulingParameters = SchedulingParameters(), at now: SchedulerInstant
    ) {
        self.quota = quota
        waits = InlineArray { rank in
            Double((QoSClass(rank: rank).map { parameters[$0].worstCaseWait } ?? .zero).schedulerNanoseconds)
        }
        began = now
        bucket = 0
        served = InlineArray(repeating: now)
    }

    // MARK: Diagnostics

    /// Whether the beginning of the kernel's periods is known.
    package var knowsPhase: Bool { phase != nil }

    /// What the high classes are expected to use, in processors.
    package var expectedRate: Double { highRate }

    /// What the group may still use in this period without the reserve.
    package var left: Double { max(0, quota.amount + carried - used) }

    /// What is kept for bursts of high work and for the kernel's inaccuracy.
    package var reserve: Double { peak + margin }
}

// MARK: - Reading the use

extension ProcessorBudget {
    private static let tick: Double = 4_000_000
    private static let longest: Double = 3_600e9

    /// Takes the use so far.
    ///
    /// A reading that goes back counts as no use. Accounts are late: of more use than the processors can have given
    /// since the last reading, the rest counts in the next ones, up to the quota of a period. So does low use that comes
    /// to light before that of the group.
    package mutating func read(_ reading: Reading, at time: SchedulerInstant) {
        guard let before = latest else {
            latest = (reading, time)
            counted = reading.counts.map { ($0, time) }
            (began, served) = (time, InlineArray(repeating: time))
            return
        }
        let now = max(time, before.at)
        let elapsed = Self.distance(before.at, now)
        let most = quota.processors * (elapsed + Self.tick)
        let (allUse, allLow) = (
            ahead.total + Self.increase(before.reading.total, reading.total),
            ahead.low + Self.increase(before.reading.low, reading.low)
        )
        let total = min(allUse, most)
        let low = min(allLow, total)
        ahead = (min(allUse - total, quota.amount), min(allLow - low, quota.amount))
        latest = (reading, now)
        spend(total, low: low, until: now, elapsed: elapsed)
        learn(high: total - low, elapsed: elapsed)
        bucket = min(2 * quota.step, bucket + 0.95 * quota.rate * elapsed - total)
        bucket = max(bucket, -quota.amount)
        if let counts = reading.counts { count(counts, at: now, total: total, low: low, elapsed: elapsed) }
    }

    /// Adds the use to the period, or to the one that has begun meanwhile.
    private mutating func spend(_ total: Double, low: Double, until now: SchedulerInstant, elapsed: Double) {
        let since = Self.distance(began, now)
        guard since >= quota.period else {
            used += total
            lowUsed += low
            return
        }
        let beginning = now.advanced(byNanoseconds: -Int64(since.truncatingRemainder(dividingBy: quota.period)))
        beginPeriod(at: beginning, now: now, total: total, low: low, elapsed: elapsed)
    }

    /// Begins a period. The use since the last reading is taken as even.
    private mutating func beginPeriod(
        at beginning: SchedulerInstant, now: SchedulerInstant, total: Double, low: Double, elapsed: Double
    ) {
        let part = elapsed > 0 ? min(1, Self.distance(beginning, now) / elapsed) : 1
        carried = min(quota.burst, max(0, quota.amount + carried - used - total * (1 - part)))
        lowUsedBefore = lowUsed + low * (1 - part)
        (used, lowUsed) = (total * part, low * part)
        began = beginning
        margin = max(0, margin - quota.amount / 3600)
    }

    /// Learns the rate and the bursts of the high classes.
    private mutating func learn(high: Double, elapsed: Double) {
        guard elapsed > 0 else { return }
        let weight = min(1, elapsed / (5 * quota.period))
        highRate += weight * (high / elapsed - highRate)
        backlog = min(quota.amount, max(0, backlog + high - drain * elapsed))
        peak = max(backlog, peak * max(0, 1 - elapsed / (20 * quota.period)))
    }

    /// The rate up to which high use is no burst.
    private var drain: Double { highRate < quota.rate ? (highRate + quota.rate) / 2 : quota.rate }

    /// Learns from the kernel's counts when its periods begin, and whether it stopped the group.
    private mutating func count(
        _ counts: Counts, at now: SchedulerInstant, total: Double, low: Double, elapsed: Double
    ) {
        defer { counted = (counts, now) }
        guard let before = counted else { return }
        guard counts.periods >= before.counts.periods, counts.throttled >= before.counts.throttled else {
            phase = nil
            return
        }
        let knewPhase = phase != nil
        let periods = counts.periods - before.counts.periods
        let throttled = min(periods, counts.throttled - before.counts.throttled)
        tally.periods &+= periods
        tally.throttled &+= throttled
        // Before a period begins anew.
        let usedByLow = max(lowUsed, lowUsedBefore)
        if periods == 1, Self.distance(before.at, now) < quota.period / 2 {
            noteBeginning(between: before.at, and: now, total: total, low: low, elapsed: elapsed)
        }
        if throttled > 0, usedByLow > quota.amount / 50 {
            tally.throttledBesideLow &+= throttled
            // What happened before the periods' beginning was known says nothing about the lines.
            if knewPhase { margin = min(quota.amount / 4, margin + quota.amount / 60) }
        }
    }

    private mutating func noteBeginning(
        between earliest: SchedulerInstant, and now: SchedulerInstant, total: Double, low: Double, elapsed: Double
    ) {
        var (first, last) = (earliest, now)
        if let phase {
            let turns = (Self.distance(phase.latest, now) / quota.period).rounded()
            let shift = Int64(turns * quota.period)
            let known = (phase.earliest.advanced(byNanoseconds: shift), phase.latest.advanced(byNanoseconds: shift))
            if max(known.0, first) < min(known.1, last) { (first, last) = (max(known.0, first), min(known.1, last)) }
        }
        let isFirst = phase == nil
        phase = (first, last)
        // The kernel's period began when our record of one was nearly over, or before anything was known of it.
        if isFirst || Self.distance(began, last) > quota.period / 2 {
            beginPeriod(at: last, now: now, total: total, low: low, elapsed: elapsed)
        } else {
            began = last
        }
    }

    private static func distance(_ first: SchedulerInstant, _ second: SchedulerInstant) -> Double {
        let (difference, overflows) = second.nanoseconds.subtractingReportingOverflow(first.nanoseconds)
        return overflows ? longest : min(max(0, Double(difference)), longest)
    }

    private static func increase(_ first: UInt64, _ second: UInt64) -> Double {
        second > first ? Double(second - first) : 0
    }
}

// MARK: - Deciding

extension ProcessorBudget {
    private static let shortestLook: Double = 500_000
    private static let longestLook: Double = 2_000_000
    private static let quantum: Double = 1_000_000
    /// A low job of this length is one after which nobody waits for a low worker's look.
    private static let longJob: Double = 10_000_000

    /// Decides which classes take no jobs from now on.
    ///
    /// The classes are looked at from the highest to the lowest. What a job of one will use is no longer there for the
    /// lower ones, because all that are let go may begin a job at once.
    package mutating func decide(_ work: LowWork, at time: SchedulerInstant) -> Decision {
        let now = max(time, latest?.at ?? time)
        let toEnd = max(0, quota.period - Self.distance(began, now))
        let even = evenLevel(at: now)
        // Nobody uses more than a processor has time until the period ends.
        var end = endLevel(toEnd: toEnd) - min(work.committed, quota.processors * toEnd)
        var result = QoSClassSet()
        var wait: Double = 0
        for rank in (0..<3).reversed() {
            let own = QoSClassSet(rank: rank)
            let isHeld = held.contains(own)
            let distance = min(quota.step / 4, toEnd / 8)
            let need = min(work.usual[rank], mostLeft, toEnd) + (isHeld ? distance : 0)
            let isAboveEven = even <= (isHeld ? quota.step : 0)
            guard isAboveEven || end < need else {
                if work.wanting.contains(own) { end -= min(work.usual[rank], toEnd) }
                continue
            }
            result.insert(own)
            if isAboveEven { wait = max(wait, (quota.step - even) / max(quota.rate - highRate, quota.rate / 8)) }
            if end < need { wait = max(wait, timeUntilEndLineRises(by: need - end, toEnd: toEnd)) }
        }
        result.subtract(grants(work, among: result, at: now))
        if !result.subtracting(held).isEmpty { tally.holds &+= 1 }
        held = result
        return look(after: wait, even: even, end: end, toEnd: toEnd, wanting: work.wanting, at: now)
    }

    /// Completes the decision about ``held`` with the times of the next look.
    private func look(
        after wait: Double, even: Double, end: Double, toEnd: Double, wanting: QoSClassSet, at now: SchedulerInstant
    ) -> Decision {
        func later(_ time: Double) -> SchedulerInstant {
            now.advanced(byNanoseconds: Int64(min(time, quota.period * 2)))
        }
        if !held.isSuperset(of: wanting) || held.isEmpty {
            let next = min(max(min(even, max(end, 0)) / quota.processors, Self.shortestLook), Self.longestLook)
            return Decision(held: held, lookAt: later(next), lookWithoutWorkerAt: later(next + Self.longJob))
        }
        var next = max(wait, Self.shortestLook)
        // The kernel's count shows when a period begins only to one who looks often enough.
        next = min(next, phase == nil ? max(quota.period / 4, Self.shortestLook) : toEnd + 50_000)
        for rank in 0..<3 where held.contains(QoSClassSet(rank: rank)) {
            next = min(next, max(waits[rank] - Self.distance(served[rank], now), Self.shortestLook))
        }
        return Decision(held: held, lookAt: later(next))
    }

    /// The time until the end line has risen, if the high classes use what they do as a rule.
    private func timeUntilEndLineRises(by amount: Double, toEnd: Double) -> Double {
        let slowly = max(drain - highRate, quota.rate / 8)
        let most = quota.rate.rounded(.up)
        let fast = max(most - highRate, quota.rate / 8)
        // From then on the high classes could not use more if they ran all the time.
        let slowTime = max(0, toEnd - peak / max(most - drain, most / 100))
        let slowPart = slowTime * slowly
        return amount <= slowPart ? amount / slowly : slowTime + (amount - slowPart) / fast
    }

    /// What is left below the even line. A bucket while the periods' beginning is unknown.
    private func evenLevel(at now: SchedulerInstant) -> Double {
        guard phase != nil else { return bucket }
        return quota.rate * Self.distance(began, now) + 2 * quota.step - used
    }

    /// What is left below the end line.
    private func endLevel(toEnd: Double) -> Double {
        guard phase != nil else { return .greatestFiniteMagnitude }
        return quota.amount + carried - used - reserve(for: toEnd)
    }

    private func reserve(for time: Double) -> Double {
        quota.amount / 100 + margin + min(quota.rate.rounded(.up) * time, drain * time + peak)
    }

    /// The most for which a job may wait: nearly all of what is left when a period begins.
    private var mostLeft: Double {
        max(quota.amount / 8, 0.8 * (quota.amount - reserve(for: quota.period)))
    }

    /// Lets classes go that have waited for their worst-case wait, until they have used a quantum themselves.
    ///
    /// All the time counts in which a class wanted to run or had a job in progress, and did not use a quantum, held or
    /// not: a moment in which it is not held may be one in which it gets no processor.
    private mutating func grants(_ work: LowWork, among held: QoSClassSet, at now: SchedulerInstant) -> QoSClassSet {
        for rank in 0..<3 {
            let own = QoSClassSet(rank: rank)
            let isServed = Self.increase(usedThen[rank], work.used[rank]) >= Self.quantum
            if isServed || !work.wanting.union(work.running).contains(own) {
                (served[rank], usedThen[rank]) = (now, work.used[rank])
                granted.subtract(own)
            } else if held.contains(own), !granted.contains(own), Self.distance(served[rank], now) >= waits[rank] {
                granted.insert(own)
                tally.windows &+= 1
            }
        }
        return granted.intersection(held)
    }
}

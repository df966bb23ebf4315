import QoSCore
import QoSTesting
import Testing

/// A kernel with one control group and a driver of the budget, in steps of virtual time.
///
/// The kernel prefers high work. It refills the quota at its period, and gives it out in slices: a processor on which
/// work runs takes 5 ms, and gives back all but 1 ms once it has nothing to run. A processor whose slice is used up
/// stops if none is left, although another processor may still have a part of its own. The accounts that the driver
/// reads are late by up to a tick.
private struct BudgetWorld {
    var quota = 0.5
    var period: Int64 = 100_000_000
    var processors = 2
    var highWidth = 1
    /// The mean share of the quota that the high jobs need.
    var load = 0.4
    var highJob: Int64 = 300_000
    /// The low workers, and the number of classes to which they belong in turns.
    var lowWorkers = 1
    var lowClasses = 1
    var lowJob: Int64 = 500_000
    var seed: UInt64 = 1
    var hasBudget = true
    var seesCounts = true
    /// The processors that other processes of the group use.
    var others = 0.0

    struct Outcome {
        var periods = 0
        var throttled = 0
        /// The time for which a processor was stopped.
        var stopped: Int64 = 0
        var high: Int64 = 0
        var low: Int64 = 0
        var length: Int64 = 0
        var longestLowGap: Int64 = 0
        /// The readings by another thread than a low worker.
        var looksOfOthers = 0
        var waits: [Int64] = []
        var tally = ProcessorBudget.Tally()

        var throttledShare: Double { Double(throttled) / Double(max(1, periods)) }
        func wait(_ quantile: Double) -> Int64 {
            let sorted = waits.sorted()
            return sorted.isEmpty ? 0 : sorted[Int(Double(sorted.count - 1) * quantile)]
        }
    }

    private static let step: Int64 = 50_000
    private static let slice: Int64 = 5_000_000
    private static let kept: Int64 = 1_000_000
    private static let wakeUp: Int64 = 100_000

    private struct HighJob {
        let arrived: Int64
        var left: Int64
        let place: Int
    }

    private struct LowWorker {
        var left: Int64 = 0
        var place: Int
        var isParked = false
        var readyAt: Int64 = 0
    }

    /// Runs the world, and counts after the first two seconds.
    func run(seconds: Int64) -> Outcome {
        var random = SeededGenerator(seed: seed)
        var outcome = Outcome()
        let amount = Int64(quota * Double(period))
        var pool = amount
        var local = [Int64](repeating: 0, count: processors)
        var isStopped = [Bool](repeating: false, count: processors)
        var isTaken = [Bool](repeating: false, count: processors)
        var nextPeriod = Int64.random(in: 1..<period, using: &random)
        var (periods, throttledPeriods): (UInt64, UInt64) = (0, 0)
        var (total, low, late): (UInt64, UInt64, UInt64) = (1_000, 0, 0)
        var used = InlineArray<3, UInt64>(repeating: 0)
        var waiting = [Int64]()
        var high = [HighJob?](repeating: nil, count: highWidth)
        var workers = (0..<lowWorkers).map { LowWorker(place: processors - 1 - $0 % processors) }
        var budget = ProcessorBudget.Quota(
            amount: UInt64(amount / 1000), period: UInt64(period / 1000), processors: processors
        ).map { ProcessorBudget(quota: $0, at: at(0)) }
        var decision = ProcessorBudget.Decision(held: [], lookAt: at(0))
        var lastCounts: Int64 = -period
        let rate = load * quota / Double(highJob)
        var nextArrival: Int64 = 0
        var lastLow: Int64 = 0
        let warmUp: Int64 = 2_000_000_000
        let end = warmUp + seconds * 1_000_000_000
        var now: Int64 = 0
        let classes: [QoSClass] = [.background, .utility, .default]

        func isHeld(_ index: Int) -> Bool {
            hasBudget && decision.held.contains(classes[index % lowClasses])
        }
        func look() {
            guard hasBudget, budget != nil else { return }
            var work = ProcessorBudget.LowWork()
            for rank in 0..<lowClasses {
                work.wanting.insert(QoSClassSet(classes[rank]))
                work.usual[rank] = Double(lowJob)
            }
            for worker in workers { work.committed += Double(max(0, worker.left)) }
            work.used = used
            var counts: ProcessorBudget.Counts?
            if seesCounts, now >= lastCounts + 2_000_000 {
                counts = ProcessorBudget.Counts(periods: periods, throttled: throttledPeriods)
                lastCounts = now
            }
            budget?.read(.init(total: total - late, low: low, counts: counts), at: at(now))
            if let answer = budget?.decide(work, at: at(now)) { decision = answer }
        }
        func use(_ place: Int) {
            isTaken[place] = true
            local[place] -= Self.step
            total += UInt64(Self.step)
        }

        while now < end {
            let isCounted = now >= warmUp
            if now >= nextPeriod {
                let wasStopped = isStopped.contains(true)
                if isCounted {
                    outcome.periods += 1
                    if wasStopped { outcome.throttled += 1 }
                }
                periods += 1
                if wasStopped { throttledPeriods += 1 }
                pool = min(pool + amount, amount)
                for place in 0..<processors where isStopped[place] {
                    let given = min(pool, 1 - local[place])
                    pool -= given
                    local[place] += given
                    isStopped[place] = local[place] <= 0
                }
                nextPeriod += period
            }
            while nextArrival <= now {
                waiting.append(nextArrival)
                nextArrival += max(
                    1, Int64(-Double.log(Double.random(in: 1e-9..<1, using: &random)) / max(rate, 1e-12)))
            }
            if now % 4_000_000 == 0 { late = 0 }
            if !decision.held.isEmpty, now >= decision.lookWithoutWorkerAt.nanoseconds {
                if isCounted { outcome.looksOfOthers += 1 }
                look()
            }
            for place in 0..<processors { isTaken[place] = false }

            for index in 0..<highWidth {
                if high[index] == nil, !waiting.isEmpty {
                    high[index] = HighJob(arrived: waiting.removeFirst(), left: highJob, place: index % processors)
                }
                guard var job = high[index], !isStopped[job.place], !isTaken[job.place] else { continue }
                use(job.place)
                late += UInt64(Self.step)
                if isCounted { outcome.high += Self.step }
                job.left -= Self.step
                high[index] = job.left > 0 ? job : nil
                guard job.left <= 0 else { continue }
                late = 0
                if isCounted { outcome.waits.append(now + Self.step - job.arrived) }
            }
            for index in 0..<lowWorkers {
                if workers[index].isParked, !isHeld(index) {
                    (workers[index].isParked, workers[index].readyAt) = (false, now + Self.wakeUp)
                }
                if workers[index].left <= 0 {
                    guard !workers[index].isParked, now >= workers[index].readyAt else { continue }
                    if now >= decision.lookAt.nanoseconds { look() }
                    workers[index].isParked = isHeld(index)
                    guard !workers[index].isParked else { continue }
                    workers[index].left = lowJob
                }
                if isTaken[workers[index].place], now % 1_000_000 == 0,
                    let free = (0..<processors).first(where: { !isTaken[$0] && !isStopped[$0] })
                {
                    workers[index].place = free
                }
                let place = workers[index].place
                guard !isTaken[place], !isStopped[place] else { continue }
                use(place)
                low += UInt64(Self.step)
                used[index % lowClasses] += UInt64(Self.step)
                workers[index].left -= Self.step
                if isCounted {
                    outcome.low += Self.step
                    outcome.longestLowGap = max(outcome.longestLowGap, now - lastLow)
                }
                lastLow = now
            }
            if others > 0 {
                let foreign = Int64(others * Double(Self.step))
                local[0] -= foreign
                total += UInt64(foreign)
            }
            for place in 0..<processors where !isStopped[place] {
                if local[place] <= 0, isTaken[place] || local[place] < 0 {
                    let given = min(pool, Self.slice - local[place])
                    pool -= given
                    local[place] += given
                    isStopped[place] = local[place] <= 0
                } else if !isTaken[place], local[place] > Self.kept,
                    !workers.contains(where: { $0.place == place && $0.left > 0 })
                {
                    pool += local[place] - Self.kept
                    local[place] = Self.kept
                }
            }
            if isCounted, isStopped.contains(true) { outcome.stopped += Self.step }
            now += Self.step
        }
        outcome.length = end - warmUp
        outcome.tally = budget?.tally ?? outcome.tally
        return outcome
    }

    /// The share of what the high work left that the low work got.
    func share(of outcome: Outcome) -> Double {
        let all = quota * Double(outcome.length)
        return Double(outcome.low) / (all - Double(outcome.high) - others * Double(outcome.length))
    }

    private func at(_ time: Int64) -> SchedulerInstant { SchedulerInstant(nanoseconds: time) }
}

extension Double {
    /// The natural logarithm for 0 < x ≤ 1, by halving; no library of the system is needed.
    fileprivate static func log(_ value: Double) -> Double {
        let exponent = value.exponent
        let y = (value.significand - 1) / (value.significand + 1)
        var (sum, power) = (0.0, y)
        for odd in stride(from: 1.0, through: 25, by: 2) {
            sum += power / odd
            power *= y * y
        }
        return 2 * sum + Double(exponent) * 0.693147180559945
    }
}

@Suite("The budget of processor time")
struct ProcessorBudgetTests {
    private func at(_ milliseconds: Double) -> SchedulerInstant {
        SchedulerInstant(nanoseconds: Int64(milliseconds * 1e6))
    }

    private func budget(
        _ amount: UInt64 = 50_000, _ period: UInt64 = 100_000, burst: UInt64 = 0
    ) throws -> ProcessorBudget {
        let quota = try #require(
            ProcessorBudget.Quota(amount: amount, period: period, burst: burst, processors: 2))
        return ProcessorBudget(quota: quota, at: at(0))
    }

    /// All low classes have work, and each has used a quantum before the first decision.
    private var work: ProcessorBudget.LowWork {
        var work = ProcessorBudget.LowWork()
        work.wanting = ProcessorBudget.low
        work.used = [1_000_000, 1_000_000, 1_000_000]
        return work
    }

    // MARK: The model

    @Test(
        "in a world of requests and saturating background, the group is stopped in few periods, and the low work gets most of the rest",
        .tags(.simulation), arguments: [0.5, 1.0, 1.5], [0.2, 0.4, 0.6])
    func model(quota: Double, load: Double) {
        for seed in 1...2 as ClosedRange<UInt64> {
            for (workers, job) in [(1, 500_000), (3, 500_000), (3, 5_000_000)] as [(Int, Int64)] {
                let world = BudgetWorld(
                    quota: quota, highWidth: quota > 1 ? 2 : 1, load: load, lowWorkers: workers, lowClasses: workers,
                    lowJob: job, seed: seed)
                let outcome = world.run(seconds: 10)
                let name = "quota \(quota), load \(load), \(workers) workers of \(job) ns, seed \(seed)"
                // Four jobs of 5 ms fit into what is left of such a period, and the windows of three classes need three.
                if job > 500_000, quota * (1 - load) < 0.25 { continue }
                // A worker uses one processor at most.
                let most = min(1, Double(min(workers, 2)) / (quota * (1 - load)))
                let share = world.share(of: outcome)
                #expect(outcome.throttledShare <= 0.06, "\(name): \(outcome.throttled)")
                #expect(share >= 0.72 * most, "\(name): \(share)")
                // A high job that finds its processor stopped waits for long; so few do that the 99th percentile is
                // that of the high jobs alone.
                var alone = world
                alone.lowWorkers = 0
                let (wait, least) = (outcome.wait(0.99), alone.run(seconds: 10).wait(0.99))
                #expect(wait <= least * 13 / 10, "\(name): \(wait) ns, alone \(least) ns")
                #expect(outcome.looksOfOthers <= 300 * 10, "\(name): \(outcome.looksOfOthers)")
            }
        }
    }

    @Test("the same world without the budget is stopped in most periods: the model can fail", .tags(.simulation))
    func modelWithout() {
        let outcome = BudgetWorld(hasBudget: false).run(seconds: 5)
        #expect(outcome.throttledShare > 0.5)
        #expect(outcome.wait(0.99) > 10_000_000)
    }

    @Test(
        "periods of 10 ms and 1 s, bursts of 20 ms, other processes of the group, and files without counts",
        .tags(.simulation))
    func otherWorlds() {
        let worlds = [
            BudgetWorld(period: 10_000_000), BudgetWorld(period: 1_000_000_000), BudgetWorld(highJob: 20_000_000),
            BudgetWorld(others: 0.1), BudgetWorld(seesCounts: false),
        ]
        for (number, world) in worlds.enumerated() {
            let outcome = world.run(seconds: 20)
            #expect(outcome.throttledShare <= 0.15, "world \(number): \(outcome.throttledShare)")
            #expect(world.share(of: outcome) >= 0.3, "world \(number): \(world.share(of: outcome))")
        }
    }

    @Test("C7 where the high classes need more than the quota, background runs a piece each quarter of a second")
    func overload() {
        let outcome = BudgetWorld(load: 1.5).run(seconds: 10)
        // Four in each of twelve seconds, less what a wait lasts longer because the group is stopped.
        #expect(outcome.tally.windows >= 35)
        // The wait, a period in which the kernel stops the group, and a look.
        #expect(outcome.longestLowGap <= 400_000_000, "\(outcome.longestLowGap)")
        #expect(outcome.low <= 300_000_000)
    }

    @Test("C7 a quota of a millisecond in each hundred lets the low work go on")
    func tiny() {
        let outcome = BudgetWorld(quota: 0.01, load: 0).run(seconds: 20)
        #expect(outcome.low >= 20 * 10_000_000 / 2)
        #expect(outcome.longestLowGap <= 400_000_000)
    }

    // MARK: Rules

    @Test("there is a budget only for a quota that the processors can use up")
    func binding() {
        typealias Quota = ProcessorBudget.Quota
        #expect(Quota(amount: 150_000, period: 100_000, processors: 2)?.rate == 1.5)
        #expect(Quota(amount: 200_000, period: 100_000, processors: 2) == nil)
        #expect(Quota(amount: 0, period: 100_000, processors: 2) == nil)
        #expect(Quota(amount: 1, period: 0, processors: 2) == nil)
        #expect(Quota(amount: 1, period: .max, processors: .max) == nil)
        #expect(Quota(amount: .max, period: .max, processors: 2) == nil)
        #expect(Quota(amount: 1000, period: 100_000, burst: 5000, processors: 0)?.burst == 1_000_000)
    }

    /// Reads the use each millisecond: a rate of high and of low work, in processors.
    private func pass(
        _ budget: inout ProcessorBudget, from start: Int, to end: Int, high: Double, low: Double,
        throttledEach: Int = .max
    ) {
        for time in start...end {
            let periods = UInt64(time / 100)
            budget.read(
                .init(
                    total: UInt64(Double(time) * (high + low) * 1e6), low: UInt64(Double(time) * low * 1e6),
                    counts: .init(periods: periods, throttled: throttledEach == .max ? 0 : periods)),
                at: at(Double(time)))
        }
    }

    @Test("the beginning of the periods is learnt from the kernel's count, to the distance of two readings")
    func phase() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 99, high: 0.1, low: 0.1)
        #expect(!budget.knowsPhase)
        pass(&budget, from: 100, to: 150, high: 0.1, low: 0.1)
        #expect(budget.knowsPhase)
        // 50 ms of the quota less what was used in this period.
        #expect(abs(budget.left - 40_000_000) < 1_000_000)
    }

    @Test("use that comes to light late counts in the next readings, up to the quota of a period")
    func lateUse() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 110, high: 0, low: 0)
        // The account jumps by 30 ms. In a millisecond two processors give 2 ms, and as much as the accounts are late.
        func read(_ time: Double, _ total: UInt64) {
            budget.read(.init(total: total, low: total, counts: .init(periods: 1, throttled: 0)), at: at(time))
        }
        read(111, 30_000_000)
        #expect(abs(budget.left - 40_000_000) < 1)
        for time in 112...120 { read(Double(time), 30_000_000) }
        #expect(abs(budget.left - 20_000_000) < 1)
        // A jump that makes no sense is forgotten once a period's quota of it has counted.
        read(121, .max)
        for time in 122...140 { read(Double(time), .max) }
        #expect(budget.left == 0)
        budget.read(.init(total: .max, low: .max, counts: .init(periods: 2, throttled: 0)), at: at(200.5))
        #expect(abs(budget.left - 50_000_000) < 1)
    }

    @Test("low use that is read before the use of the group it is part of is not taken for high")
    func earlyLow() throws {
        var budget = try budget()
        for time in 0...2000 {
            // One processor, all of it low; the low clocks are read each 10 ms.
            let low = UInt64(time / 10) * 10_000_000
            budget.read(.init(total: UInt64(time) * 1_000_000, low: low), at: at(Double(time)))
        }
        #expect(budget.expectedRate < 0.1)
    }

    @Test("low work is held above the even line, until the time has caught up, and not below it")
    func evenLine() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 110, high: 0.1, low: 0.1)
        #expect(budget.decide(work, at: at(110)).held.isEmpty)
        pass(&budget, from: 111, to: 130, high: 0.1, low: 1)
        // The readings jump by what low work would have used from the start; so above any line.
        let decision = budget.decide(work, at: at(130))
        #expect(decision.held == ProcessorBudget.low)
        #expect(decision.lookAt > at(130))
        #expect(decision.lookAt <= at(200.1))
    }

    @Test("a stopped period beside low work makes the reserve larger, and periods without one make it smaller")
    func feedback() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 1000, high: 0.1, low: 0.3, throttledEach: 1)
        let grown = budget.reserve
        #expect(grown > 5_000_000)
        #expect(budget.tally.throttledBesideLow == budget.tally.throttled)
        let throttled = budget.tally.throttled
        for time in 1001...60_000 {
            budget.read(
                .init(
                    total: UInt64(time * 400_000), low: UInt64(time * 300_000),
                    counts: .init(periods: UInt64(time / 100), throttled: throttled)),
                at: at(Double(time)))
        }
        #expect(budget.reserve < grown / 2)
    }

    @Test("a period that the high classes used up by themselves is not blamed on low work")
    func blame() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 1000, high: 0.6, low: 0, throttledEach: 1)
        #expect(budget.tally.throttled > 5)
        #expect(budget.tally.throttledBesideLow == 0)
    }

    @Test("all classes that are let go may begin a job at once: the lower ones only with enough left for all")
    func jobsAtOnce() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 110, high: 0.1, low: 0.35)
        #expect(budget.decide(work, at: at(110)).held.isEmpty)
        pass(&budget, from: 111, to: 170, high: 0.1, low: 0.35)
        var long = work
        long.usual = [6_000_000, 6_000_000, 6_000_000]
        #expect(budget.decide(long, at: at(170)).held.members == [.utility, .background])
    }

    @Test("while a low worker will look, others look later; when all are held, somebody else looks in time")
    func looks() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 110, high: 0.1, low: 0.1)
        let free = budget.decide(work, at: at(110))
        #expect(free.lookWithoutWorkerAt > free.lookAt)
        pass(&budget, from: 111, to: 130, high: 0.1, low: 1)
        let held = budget.decide(work, at: at(130))
        #expect(held.held == ProcessorBudget.low)
        #expect(held.lookWithoutWorkerAt == held.lookAt)
    }

    @Test("a long job begins only with enough left until the period ends; one that never fits begins with the period")
    func longJobs() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 150, high: 0.1, low: 0.35)
        // No class starves: all of them ran until now.
        #expect(budget.decide(work, at: at(150)).held.isEmpty)
        pass(&budget, from: 151, to: 190, high: 0.1, low: 0.35)
        var long = work
        long.usual = [20_000_000, 20_000_000, 500_000]
        #expect(budget.decide(long, at: at(190)).held.members == [.utility, .background])
        var endless = work
        endless.usual = [900_000_000, 900_000_000, 900_000_000]
        #expect(budget.decide(endless, at: at(190)).held == ProcessorBudget.low)
        pass(&budget, from: 191, to: 202, high: 0.1, low: 0.35)
        // The lower ones could no longer begin theirs as well.
        #expect(budget.decide(endless, at: at(202)).held.members == [.utility, .background])
    }

    @Test("C7 the window of a class ends when the class itself has used a quantum, whatever others use")
    func ownQuantum() throws {
        var budget = try budget()
        // The high classes need more than the quota, so all low ones are held, and have waited for long.
        pass(&budget, from: 0, to: 2000, high: 0.6, low: 0)
        var work = work
        work.used = [0, 0, 0]
        #expect(budget.decide(work, at: at(2000)).held.isEmpty)
        #expect(budget.tally.windows == 3)
        func read(_ time: UInt64, low: UInt64) {
            budget.read(
                .init(total: time * 600_000 + low, low: low, counts: .init(periods: 20, throttled: 0)),
                at: at(Double(time)))
        }
        read(2002, low: 2_000_000)
        work.used = [0, 0, 2_000_000]
        #expect(budget.decide(work, at: at(2002)).held.members == [.default])
        read(2004, low: 4_000_000)
        work.used = [1_000_000, 1_000_000, 2_000_000]
        #expect(budget.decide(work, at: at(2004)).held == ProcessorBudget.low)
        #expect(budget.tally.windows == 3)
    }

    @Test("C7 the window of a class whose only job is in progress ends when it has used a quantum, not when it begins")
    func windowOfRunningJob() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 2000, high: 0.6, low: 0)
        var work = work
        (work.wanting, work.used) = (QoSClassSet(.background), [0, 0, 0])
        #expect(budget.decide(work, at: at(2000)).held.members.contains(.background) == false)
        // The job waits no more: it has left its checkpoint.
        (work.wanting, work.running) = (QoSClassSet(), QoSClassSet(.background))
        for used in [0, 100_000, 900_000] as [UInt64] {
            work.used = [used, 0, 0]
            #expect(!budget.decide(work, at: at(2001)).held.members.contains(.background), "\(used) ns")
        }
        work.used = [1_000_000, 0, 0]
        #expect(budget.decide(work, at: at(2002)).held.members.contains(.background))
        #expect(budget.tally.windows == 1)
    }

    @Test("C7 a moment in which a class is not held does not end its wait, if it gets no processor then")
    func waitsWhileFree() throws {
        for isServed in [false, true] {
            var budget = try budget()
            var work = work
            if !isServed { work.used = [0, 0, 0] }
            pass(&budget, from: 0, to: 110, high: 0.1, low: 0.1)
            #expect(budget.decide(work, at: at(110)).held.isEmpty)
            pass(&budget, from: 111, to: 251, high: 0.1, low: 1)
            // 251 ms after the beginning, or 141 ms after the classes have run.
            #expect(budget.decide(work, at: at(251)).held.members == (isServed ? [.utility, .background] : []))
        }
    }

    @Test("what the kernel carries over from a period with less use is not held back")
    func burst() throws {
        var (plain, bursting) = (try budget(), try budget(burst: 20_000))
        pass(&plain, from: 0, to: 210, high: 0.1, low: 0.1)
        pass(&bursting, from: 0, to: 210, high: 0.1, low: 0.1)
        #expect(bursting.left - plain.left == 20_000_000)
    }

    @Test("readings and clocks that jump, go back or repeat trap nowhere, and the next look is always to come")
    func badInput() throws {
        var random = SeededGenerator(seed: 30)
        let edges: [UInt64] = [0, 1, 1000, .max / 2, .max - 1, .max]
        let times: [Int64] = [.min, -1, 0, 1, 1_000_000, 1_000_000_000_000, .max - 1, .max]
        for round in 0..<200 {
            let quota = ProcessorBudget.Quota(
                amount: UInt64.random(in: 1...100_000, using: &random),
                period: [1, 1000, 100_000, 3_600_000_000][round % 4], burst: edges[round % 6],
                processors: round % 3 == 0 ? .max : 100_000)
            guard let quota else { continue }
            var budget = ProcessorBudget(quota: quota, at: SchedulerInstant(nanoseconds: times[round % 8]))
            for _ in 0..<200 {
                func number() -> UInt64 {
                    Bool.random(using: &random) ? edges.randomElement(using: &random) ?? 0 : random.next()
                }
                let time = SchedulerInstant(
                    nanoseconds: Bool.random(using: &random)
                        ? times.randomElement(using: &random) ?? 0 : Int64(truncatingIfNeeded: random.next()))
                let counts = ProcessorBudget.Counts(periods: number(), throttled: number())
                budget.read(.init(total: number(), low: number(), counts: counts), at: time)
                var low = work
                low.committed = Double(number())
                low.usual = [Double(number()), 0, 1]
                let decision = budget.decide(low, at: time)
                #expect(decision.lookAt > time || time.nanoseconds == .max)
                #expect(decision.held.subtracting(ProcessorBudget.low).isEmpty)
                #expect(budget.left.isFinite && budget.reserve.isFinite && budget.expectedRate.isFinite)
            }
        }
    }

    @Test("a process that was frozen goes on with a fresh period")
    func frozen() throws {
        var budget = try budget()
        pass(&budget, from: 0, to: 150, high: 0.1, low: 0.9)
        #expect(!budget.decide(work, at: at(150)).held.isEmpty)
        budget.read(
            .init(total: 151_000_000, low: 135_900_000, counts: .init(periods: 2, throttled: 0)), at: at(60_150))
        #expect(budget.decide(work, at: at(60_150)).held.isEmpty)
    }
}

import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Background activities on a scheduler", .timeLimit(.minutes(5)))
struct BackgroundActivityTests {
    private let machine = SimulatedMachine()

    private func monitor(_ scheduler: QoSScheduler) throws -> SystemMonitor {
        try SystemMonitor(governing: scheduler, configuration: machine.configuration, isDrivenByHand: true)
    }

    @Test("S5 it runs in its class, again and again, detached from the code that added it, as an activity of its own")
    func repeats() async throws {
        try await withScheduler { scheduler in
            let activities = BackgroundActivityScheduler(on: scheduler)
            let levels = Collected<(QoSLevel?, Activity?)>()
            let thrice = Gate()
            try QoS.performActivity(.userInitiated, reason: "adds it") {
                try activities.schedule(
                    BackgroundActivity("a", .every(.milliseconds(2), tolerance: .milliseconds(1)), qosClass: .utility)
                ) { run in
                    #expect(run.identifier == "a")
                    // A later run may see the shutdown.
                    #expect(levels.all.count >= 3 || run.deferralReason == nil)
                    levels.append((QoS.currentLevel, QoS.activity))
                    if levels.all.count == 3 { thrice.open() }
                    return .finished
                }
            }
            await thrice.passed()
            #expect(levels.all.allSatisfy { $0.0 == .utility && $0.1?.reason == "a" && $0.1?.parentID == nil })
            #expect(await activities.shutdown(within: .seconds(60)).isEmpty)
        }
    }

    @Test("S5 S3 low-power mode keeps a due activity waiting with the reason, and asks a running one to defer")
    func governed() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler)
            let activities = BackgroundActivityScheduler(on: scheduler, monitor: monitor)
            let (began, deferred) = (Gate(), Gate())
            try activities.schedule(BackgroundActivity("a", .once(retryDelay: .zero), qosClass: .utility)) { run in
                if began.isOpen { return .finished }
                began.open()
                while !run.shouldDefer { await Task.yield() }
                #expect(run.deferralReason?.contains("low-power mode") == true)
                deferred.open()
                return .deferred
            }
            await began.passed()
            monitor.setLowPowerMode(true)
            monitor.tick(at: second(0))
            await deferred.passed()
            while activities.state(of: "a")?.runs != 1 { await Task.yield() }
            guard case .waitsForConditions(let reason)? = activities.state(of: "a")?.phase else {
                Issue.record("\(activities.states)")
                return
            }
            #expect(reason.hasPrefix("discretionary work at utility waits: low-power mode"))
            monitor.setLowPowerMode(false)
            monitor.tick(at: second(1))
            monitor.tick(at: second(3))
            while activities.state(of: "a")?.phase != .ended { await Task.yield() }
            #expect(activities.state(of: "a")?.lastResult == .finished)
        }
    }

    @Test("S5 a condition that no longer holds asks a run to defer")
    func condition() async throws {
        try await withScheduler { scheduler in
            let monitor = try monitor(scheduler)
            let activities = BackgroundActivityScheduler(on: scheduler, monitor: monitor)
            let ended = Gate()
            try activities.schedule(
                BackgroundActivity(
                    "a", .once(), qosClass: .utility, conditions: [.pressure(.freeDisk, atMost: .nominal)])
            ) { run in
                while !run.shouldDefer { await Task.yield() }
                #expect(run.deferralReason == "freeDisk elevated: simulated")
                ended.open()
                return .finished
            }
            while activities.state(of: "a")?.phase == .waitsForConditions("it begins in a moment") {
                await Task.yield()
            }
            // The policy leaves utility alone, so the condition is what counts.
            monitor.overrides.pressure[.freeDisk] = .elevated
            monitor.tick(at: second(0))
            await ended.passed()
        }
    }

    @Test("S5 two activities of one name are refused, also while the last run of a cancelled one goes on")
    func duplicates() async throws {
        try await withScheduler { scheduler in
            let activities = BackgroundActivityScheduler(on: scheduler)
            let (began, release) = (Gate(), Gate())
            let once = BackgroundActivity("a", .once())
            try activities.schedule(once) { _ in
                began.open()
                await release.passed()
                return .finished
            }
            await began.passed()
            #expect(throws: BackgroundActivityError.duplicateIdentifier("a")) {
                try activities.schedule(once) { _ in .finished }
            }
            #expect(activities.cancel("a") && !activities.cancel("a") && !activities.cancel("b"))
            #expect(throws: BackgroundActivityError.duplicateIdentifier("a")) {
                try activities.schedule(once) { _ in .finished }
            }
            release.open()
            while activities.state(of: "a") != nil { await Task.yield() }
            try activities.schedule(BackgroundActivity("a", .every(.seconds(3_600)))) { _ in .finished }
            #expect(throws: BackgroundActivityError.self) {
                try activities.schedule(BackgroundActivity("b", .every(.zero))) { _ in .finished }
            }
        }
    }

    @Test("S5 a cancelled activity's run has its task cancelled, and a waiting one never runs")
    func cancels() async throws {
        try await withScheduler { scheduler in
            let activities = BackgroundActivityScheduler(on: scheduler)
            let (began, cancelled) = (Gate(), Gate())
            try activities.schedule(BackgroundActivity("a", .once())) { run in
                began.open()
                while !Task.isCancelled { await Task.yield() }
                #expect(run.shouldDefer)
                cancelled.open()
                throw CancellationError()
            }
            try activities.schedule(BackgroundActivity("b", .once(after: .seconds(3_600)))) { _ in .finished }
            await began.passed()
            #expect(activities.cancel("a") && activities.cancel("b"))
            await cancelled.passed()
            #expect(await activities.shutdown(within: .seconds(60)).isEmpty)
            #expect(activities.states.isEmpty)
        }
    }

    @Test("S5 the end asks runs to defer; one that ignores it is cancelled after the grace, and named if it goes on")
    func ends() async throws {
        try await withScheduler { scheduler in
            let activities = BackgroundActivityScheduler(on: scheduler)
            let (both, release) = (Tally(), Gate())
            let begun = Gate()
            try activities.schedule(BackgroundActivity("good", .once())) { run in
                if both.add() == 2 { begun.open() }
                while !run.shouldDefer { await Task.yield() }
                return .deferred
            }
            try activities.schedule(BackgroundActivity("stubborn", .once(), qosClass: .utility)) { _ in
                if both.add() == 2 { begun.open() }
                await release.passed()
                return .finished
            }
            await begun.passed()
            #expect(await activities.shutdown(within: .zero) == ["stubborn"])
            #expect(throws: BackgroundActivityError.ended) {
                try activities.schedule(BackgroundActivity("late", .once())) { _ in .finished }
            }
            release.open()
        }
    }

    @Test("S5 the shutdown of the scheduler asks runs to defer; so does the release of the activities")
    func shutdown() async throws {
        for releases in [false, true] {
            try await withScheduler { scheduler in
                var activities: BackgroundActivityScheduler? = BackgroundActivityScheduler(on: scheduler)
                let (began, ended) = (Gate(), Gate())
                try activities?.schedule(BackgroundActivity("a", .every(.milliseconds(1), tolerance: .zero))) { run in
                    began.open()
                    while !run.shouldDefer { await Task.yield() }
                    ended.open()
                    return .deferred
                }
                await began.passed()
                if releases {
                    activities = nil
                } else {
                    #expect(try await scheduler.shutdown(within: .seconds(60)).isClean)
                    #expect(activities != nil)
                }
                await ended.passed()
            }
        }
    }

    @Test("S5 the observer is told of the beginning and the end of each run")
    func observed() async throws {
        struct Observer: SchedulerObserver {
            let events = Collected<BackgroundActivityEvent>()
            let ended = Gate()
            func observe(_ event: SchedulerEvent) {
                guard case .backgroundActivity(let event) = event else { return }
                events.append(event)
                if case .ended = event { ended.open() }
            }
        }
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(processors: 2, appliesKernelEffects: false, observer: observer)
        try await withScheduler(configuration) { scheduler in
            let activities = BackgroundActivityScheduler(on: scheduler)
            try activities.schedule(BackgroundActivity("a", .once())) { _ in .finished }
            await observer.ended.passed()
            #expect(observer.events.all == [.began("a"), .ended("a", .finished)])
        }
    }
}

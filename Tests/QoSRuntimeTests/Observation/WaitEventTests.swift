import QoSCore
import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("What observers are told of waits", .timeLimit(.minutes(5)))
struct WaitEventTests {
    private final class Observer: SchedulerObserver {
        let reports = Collected<InversionReport>()

        func observe(_ event: SchedulerEvent) {
            if case .inversion(let report) = event { reports.append(report) }
        }

        /// The first report of a worker that sleeps for the resource, once there is one.
        func sleeper(for resource: String) async -> InversionReport {
            while true {
                let found = reports.all.first { $0.resource == resource && $0.kind == .blockedPoolThread }
                if let found { return found }
                await Task.yield()
            }
        }
    }

    private func withObserved(_ body: (QoSScheduler, Observer) async throws -> Void) async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 2, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        try await withScheduler(configuration) { try await body($0, observer) }
    }

    /// Lets a thread `holder` have what `hold` takes, until the observer is told of an item of the class that `wait`s
    /// for it.
    ///
    /// - Returns: what it is told.
    private func report(
        on resource: String, by qosClass: QoSClass, of scheduler: QoSScheduler, to observer: Observer,
        hold: @escaping @Sendable (_ body: () -> Void) -> Void, wait: @escaping @Sendable () -> Void
    ) async throws -> InversionReport {
        let (begun, goOn) = (Gate(), Gate())
        let thread = try RunningThread(name: "holder") {
            hold {
                begun.open()
                goOn.blockThread()
            }
        }
        await begun.passed()
        scheduler.globalQueue(for: qosClass).async { wait() }
        let report = await observer.sleeper(for: resource)
        goOn.open()
        try thread.join()
        return report
    }

    @Test("I5 a worker that sleeps for a work queue is told of, with both threads' names")
    func blockedForQueue() async throws {
        try await withObserved { scheduler, observer in
            let queue = scheduler.makeQueue("busy")
            let report = try await report(
                on: "queue 'busy'", by: .utility, of: scheduler, to: observer,
                hold: { body in try? queue.sync { body() } }, wait: { try? queue.sync {} })
            #expect(observer.reports.all.first { $0.resource == "queue 'busy'" } == report)
            #expect(report.waiter.name.contains("'qos-ut-"))
            #expect(report.holder.name.contains("'holder'"))
            #expect(report.waiter.level == .utility)
        }
    }

    @Test("I5 a worker that sleeps in a mutex is told of, with the holder's name, and a deadlock with the names of all")
    func blockedInMutex() async throws {
        try await withObserved { scheduler, observer in
            let lock = SharedMutex(name: "table")
            let report = try await report(
                on: "mutex 'table'", by: .userInitiated, of: scheduler, to: observer,
                hold: { body in lock.mutex.withLock { _ in body() } }, wait: { lock.mutex.withLock { $0 += 1 } })
            #expect(report.waiter.name.contains("'qos-in-"))
            #expect(report.holder.name.contains("'holder'"))
            #expect(throws: LockError.self) {
                try lock.mutex.withCheckedLock { _ in try lock.mutex.withCheckedLock { $0 += 1 } }
            }
            #expect(observer.reports.all.contains { $0.kind == .deadlock })
        }
    }

    @Test("I5 a worker that sleeps until a closure has run once is told of, with the name of the thread that runs it")
    func blockedForOnce() async throws {
        try await withObserved { scheduler, observer in
            let once = Once()
            let report = try await report(
                on: "a closure that runs once", by: .utility, of: scheduler, to: observer,
                hold: { body in try? once.run(body) }, wait: { try? once.run {} })
            #expect(report.waiter.name.contains("'qos-ut-"))
            #expect(report.holder.name.contains("'holder'"))
        }
    }

    @Test("I5 of another scheduler's workers an observer is not told, nor of anything once its scheduler has gone")
    func otherScheduler() async throws {
        let observer = Observer()
        var observed: QoSScheduler? = try QoSScheduler(
            configuration: .init(processors: 1, appliesKernelEffects: false, observer: observer))
        try await withObserved { other, otherObserver in
            let lock = SharedMutex(name: "elsewhere")
            _ = try await report(
                on: "mutex 'elsewhere'", by: .default, of: other, to: otherObserver,
                hold: { body in lock.mutex.withLock { _ in body() } }, wait: { lock.mutex.withLock { $0 += 1 } })
            #expect(!observer.reports.all.contains { $0.resource == "mutex 'elsewhere'" })
        }
        try await observed?.shutdown()
        observed = nil
        let lock = SharedMutex(name: "afterwards")
        #expect(throws: LockError.self) {
            try lock.mutex.withCheckedLock { _ in try lock.mutex.withCheckedLock { $0 += 1 } }
        }
        #expect(!observer.reports.all.contains { $0.resource == "mutex 'afterwards'" })
    }
}

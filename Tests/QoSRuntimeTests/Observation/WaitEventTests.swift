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
            if case .waiting(let report) = event { reports.append(report) }
        }
    }

    private func withObserved(_ body: (QoSScheduler, Observer) async throws -> Void) async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 2, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        try await withScheduler(configuration) { try await body($0, observer) }
    }

    @Test("I5 a worker that sleeps for a work queue is told of, with both threads' names")
    func blockedForQueue() async throws {
        try await withObserved { scheduler, observer in
            let queue = scheduler.makeQueue("busy")
            let (begun, goOn) = (Gate(), Gate())
            let thread = try RunningThread(name: "has-the-turn") {
                try? queue.sync {
                    begun.open()
                    goOn.blockThread()
                }
            }
            await begun.passed()
            scheduler.globalQueue(for: .utility).async { try? queue.sync {} }
            while !observer.reports.all.contains(where: { $0.resource == "queue 'busy'" }) { await Task.yield() }
            goOn.open()
            try thread.join()
            let report = observer.reports.all.first { $0.resource == "queue 'busy'" }
            #expect(report?.kind == .blockedPoolThread)
            #expect(report?.waiter.name.contains("'qos-ut-") == true)
            #expect(report?.holder.name.contains("'has-the-turn'") == true)
            #expect(report?.waiter.level == .utility)
        }
    }

    @Test("I5 a worker that sleeps in a mutex is told of, with the holder's name, and a deadlock with the names of all")
    func blockedInMutex() async throws {
        try await withObserved { scheduler, observer in
            let lock = SharedMutex(name: "table")
            let (begun, goOn) = (Gate(), Gate())
            let thread = try RunningThread(name: "holder") {
                lock.mutex.withLock { _ in
                    begun.open()
                    goOn.blockThread()
                }
            }
            await begun.passed()
            scheduler.globalQueue(for: .userInitiated).async { lock.mutex.withLock { $0 += 1 } }
            while !observer.reports.all.contains(where: { $0.resource == "mutex 'table'" }) { await Task.yield() }
            goOn.open()
            try thread.join()
            let report = observer.reports.all.first { $0.resource == "mutex 'table'" && $0.kind == .blockedPoolThread }
            #expect(report?.waiter.name.contains("'qos-in-") == true)
            #expect(report?.holder.name.contains("'holder'") == true)
            #expect(throws: LockError.self) {
                try lock.mutex.withCheckedLock { _ in try lock.mutex.withCheckedLock { $0 += 1 } }
            }
            #expect(observer.reports.all.contains { $0.kind == .deadlock })
        }
    }

    @Test("I5 of another scheduler's workers an observer is not told, nor of anything once its scheduler has gone")
    func otherScheduler() async throws {
        let observer = Observer()
        var observed: QoSScheduler? = try QoSScheduler(
            configuration: .init(processors: 1, appliesKernelEffects: false, observer: observer))
        try await withObserved { other, otherObserver in
            let lock = SharedMutex(name: "elsewhere")
            let (begun, goOn) = (Gate(), Gate())
            let thread = try RunningThread(name: "holder") {
                lock.mutex.withLock { _ in
                    begun.open()
                    goOn.blockThread()
                }
            }
            await begun.passed()
            other.globalQueue(for: .default).async { lock.mutex.withLock { $0 += 1 } }
            while !otherObserver.reports.all.contains(where: { $0.resource == "mutex 'elsewhere'" }) {
                await Task.yield()
            }
            goOn.open()
            try thread.join()
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

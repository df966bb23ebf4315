import Foundation
import Glibc
import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSProcessTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Limits of the system and of the runtime", .timeLimit(.minutes(5)))
struct LimitTests {
    private final class Observer: SchedulerObserver {
        let limits = Collected<SchedulerLimit>()

        func observe(_ event: SchedulerEvent) {
            if case .limitReached(let limit) = event { limits.append(limit) }
        }
    }

    /// The lines on standard error that name a class without a thread.
    private func refusals(_ ending: DriverProcess.Ending) -> [String] {
        ending.errors.split(separator: "\n").map(String.init).filter { $0.contains("gets no thread") }
    }

    @Test(
        "classes without a thread say so once each, with the remedy, and other classes do their work", arguments: 1...4)
    func fewThreads(_ count: Int) async throws {
        let ending = try await DriverProcess("few-threads", String(count)).ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings["tasks"] == "100" && ending.findings["calls"] == "5" && ending.findings["items"] == "4")
        #expect(ending.findings["limits"] == "threads")
        let lines = refusals(ending)
        #expect(!lines.isEmpty && Set(lines).count == lines.count && lines.count <= 5, "\(ending.errors)")
        #expect(lines.allSatisfy { $0.contains("pids.max") && $0.contains("EAGAIN") })
        #expect(ending.errors.split(separator: "\n").count == lines.count, "\(ending.errors)")
    }

    @Test("without any worker the body never begins: a signal ends the process at once", arguments: [SIGINT, SIGTERM])
    func noThread(_ signal: Int32) async throws {
        let process = try DriverProcess("few-threads", "0")
        await process.printed("refused=yes")
        process.send(signal)
        let ending = await process.ending()
        #expect(ending.status == 128 + signal && !ending.wasKilledBySignal, "\(ending)")
        #expect(refusals(ending).count == 1, "\(ending.errors)")
    }

    @Test(
        "in a control group that allows few threads the program works, and says which classes have none",
        .tags(.process),
        .enabled(if: PidsGroup.isAvailable), arguments: 4...8)
    func controlGroup(_ limit: Int) async throws {
        let group = try PidsGroup(limit: limit)
        defer { group.remove() }
        let process = try DriverProcess(script: "echo $$ > \(group.path)/cgroup.procs && exec \"$0\" few-threads")
        let ending = await process.ending()
        #expect(ending.status == 0 && ending.findings["tasks"] == "100", "\(limit): \(ending)")
        // The limit counts the main thread, the loop, and the thread that makes all others.
        if limit <= 5 { #expect(refusals(ending).contains { $0.contains("\(group.path)/pids.max is \(limit)") }) }
    }

    @Test(
        "in a control group with no thread for a worker, the program ends with the reason, or waits and ends at a signal",
        .tags(.process), .enabled(if: PidsGroup.isAvailable), arguments: 1...3)
    func tooSmallGroup(_ limit: Int) async throws {
        let group = try PidsGroup(limit: limit)
        defer { group.remove() }
        let process = try DriverProcess(
            script: "echo $$ > \(group.path)/cgroup.procs && exec \"$0\" few-threads 2>&1")
        await process.printed { $0.contains("pids.max") }
        // One process, the loop and the thread that makes others: there is no fourth for a worker.
        if limit == 3 { process.send(SIGTERM) }
        let ending = await process.ending()
        #expect(ending.status == (limit == 3 ? 128 + SIGTERM : 1) && !ending.wasKilledBySignal, "\(ending)")
    }

    /// A group of the `pids` controller, version 1 or 2.
    private struct PidsGroup {
        let path: String

        private static let parent = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].first { path in
            unsafe path.hasSuffix("pids")
                ? access("\(path)/cgroup.procs", W_OK) == 0
                : (try? String(contentsOfFile: "\(path)/cgroup.subtree_control", encoding: .utf8))?.contains("pids")
                    ?? false
        }

        static var isAvailable: Bool { geteuid() == 0 && parent != nil }

        init(limit: Int) throws {
            path = try #require(Self.parent) + "/qos-test-\(getpid())-\(limit)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try "\(limit)\n".write(toFile: "\(path)/pids.max", atomically: false, encoding: .utf8)
        }

        func remove() { _ = unsafe rmdir(path) }
    }

    @Test("a class whose thread is refused has its own workers again when the system allows it")
    func allowedLater() async throws {
        let calls = FaultInjectingSchedulingCalls()
        let observer = Observer()
        var configuration = QoSScheduler.Configuration(
            processors: 2, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        configuration.schedulingCalls = calls
        try await withScheduler(configuration) { scheduler in
            await Task(executorPreference: scheduler.executor(for: .userInitiated)) {}.value
            calls.deny(.createThread, with: EAGAIN)
            let lent = await Task.detached(executorPreference: scheduler.executor(for: .background)) {
                CurrentThread.qosClass
            }.escaped
            #expect(lent == .userInitiated)
            #expect(observer.limits.all.filter { $0 != .schedulers } == [.threads])
            calls.allow([.createThread])
            var own: QoSClass?
            while own != .background {
                own = await Task.detached(executorPreference: scheduler.executor(for: .background)) {
                    CurrentThread.qosClass
                }.escaped
            }
            #expect(observer.limits.all.filter { $0 != .schedulers } == [.threads])
        }
    }

    @Test("a task that is raised to a class without a thread runs where that class's work runs")
    func raisedToThreadless() async throws {
        let calls = FaultInjectingSchedulingCalls()
        var configuration = QoSScheduler.Configuration(
            processors: 1, workers: [.background: 1], appliesKernelEffects: false, detectsBlocking: false)
        configuration.schedulingCalls = calls
        try await withScheduler(configuration) { scheduler in
            for qosClass in [QoSClass.background, .default] {
                await Task.detached(executorPreference: scheduler.executor(for: qosClass)) {}.escaped
            }
            calls.deny(.createThread, with: EAGAIN)
            let (busy, release) = (Gate(), Gate())
            let hog = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                busy.open()
                release.blockThread()
            }
            await busy.passed()
            let waiting = Task.detached(executorPreference: scheduler.executor, priority: .background) {
                CurrentThread.qosClass
            }
            // Only a promotion gets it past the hog.
            let ran = await Task.detached(executorPreference: scheduler.executor, priority: .userInitiated) {
                await waiting.value
            }.escaped
            #expect(ran == .default)
            release.open()
            await hog.value
        }
    }

    @Test("the 33rd blocked worker of a class has no stand-in, which is told once")
    func standIns() async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: false, observer: observer)
        try await withScheduler(configuration) { scheduler in
            let (blocked, release) = (Tally(), Gate())
            let tasks = (0..<34).map { _ in
                Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                    QoS.withBlocking {
                        blocked.add()
                        release.blockThread()
                    }
                }
            }
            while blocked.value < 33 { await Task.yield() }
            // Other tests may have made many schedulers in this process.
            #expect(observer.limits.all.filter { $0 != .schedulers } == [.standIns])
            #expect(scheduler.snapshot.limitsReached.contains(.standIns) && scheduler.snapshot.uncompensated == 1)
            release.open()
            for task in tasks { await task.escaped }
            #expect(observer.limits.all.filter { $0 != .schedulers } == [.standIns])
        }
    }

    @Test("the 129th worker of a class is told")
    func promotableWorkers() async throws {
        let observer = Observer()
        let configuration = QoSScheduler.Configuration(
            processors: 129, appliesKernelEffects: false, detectsBlocking: false,
            observer: observer)
        try await withScheduler(configuration) { scheduler in
            let (begun, release) = (Tally(), Gate())
            let tasks = (0..<129).map { _ in
                Task.detached(executorPreference: scheduler.executor(for: .utility)) {
                    begun.add()
                    release.blockThread()
                }
            }
            while begun.value < 129 { await Task.yield() }
            #expect(observer.limits.all.filter { $0 != .schedulers } == [.promotableWorkers])
            release.open()
            for task in tasks { await task.escaped }
        }
    }

    @Test("without /proc the detection of blocking is off, which is told", arguments: [true, false])
    func noProc(_ detects: Bool) async throws {
        let observer = Observer()
        var configuration = QoSScheduler.Configuration(
            processors: 1, appliesKernelEffects: false, detectsBlocking: detects, observer: observer)
        configuration.fileRoot = FileRoot("/nowhere")
        try await withScheduler(configuration) { scheduler in
            #expect(observer.limits.all.filter { $0 != .schedulers } == (detects ? [.blockingDetection] : []))
            #expect(Set(scheduler.snapshot.limitsReached) == Set(observer.limits.all))
        }
    }

    @Test("the 64th scheduler of a process is told that it has no number")
    func manySchedulers() async throws {
        let ending = try await DriverProcess("many-schedulers").ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.findings == ["reached": "true", "first": "true"])
    }

    @Test("the 65th raised task keeps its raise, until it ends")
    func raisedTasks() {
        // Addresses that no task has: the words of this process are aligned.
        let tasks = (0..<300).map { TaskAddress(rawValue: UInt(0x1001 + $0 * 2)) }
        for task in tasks {
            RaisedTasks.raise(task, to: .userInitiated, for: .program)
            RaisedTasks.raise(task, to: .utility, for: .lock)
        }
        #expect(tasks.allSatisfy { RaisedTasks.qosClass(of: $0) == .userInitiated })
        for task in tasks { RaisedTasks.end(.program, of: task) }
        #expect(tasks.allSatisfy { RaisedTasks.qosClass(of: $0) == .utility })
        for task in tasks { RaisedTasks.end(.lock, of: task) }
        #expect(tasks.allSatisfy { RaisedTasks.qosClass(of: $0) == nil })
    }

    @Test("I5 a mutex that is locked within itself stops the process, with its name")
    func locksTwice() async throws {
        let ending = try await DriverProcess(script: "SWIFT_BACKTRACE=enable=no exec \"$0\" locks-twice").ending()
        #expect(ending.wasKilledBySignal)
        #expect(ending.errors.contains("QoSMutex.withLock within itself") && ending.errors.contains("mutex 'account'"))
    }

    @Test("I5 a deadlock that nothing can open is told on standard error where no observer listens")
    func locksInCircle() async throws {
        let ending = try await DriverProcess("locks-in-circle").ending()
        #expect(ending.status == 0, "\(ending)")
        let line = try #require(ending.findings["line"])
        #expect(line.hasPrefix("warning: deadlock of thread 'thread-"), "\(line)")
        #expect(line.contains("mutex 'first'") && line.contains("mutex 'second'"))
    }
}

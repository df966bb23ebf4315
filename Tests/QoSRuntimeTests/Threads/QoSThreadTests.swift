import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import ServiceContextModule
import Testing

@testable import QoSRuntime

extension ThreadsAndLocks {
    @Suite("Threads with a level")
    struct QoSThreadTests {
        @Test(
            "T1 the level is set before the start, and is read from outside, by itself, and by what it submits",
            arguments: QoSClass.allCases)
        func level(qosClass: QoSClass) throws {
            let level = QoSLevel(qosClass, relativePriority: .lowest)
            try LockKernelStage.with(.all) { stage in
                let thread = QoSThread(name: "level") { (QoSThread.currentLevel, QoS.currentLevel, try stage.ownNice) }
                #expect(thread.level == nil)
                try thread.setLevel(level)
                try thread.start()
                let (own, submitted, nice) = try thread.join()
                #expect(own == level)
                #expect(submitted == level)
                #expect(nice == LockKernelStage.nice(qosClass))
                #expect(thread.level == level)
                #expect(thread.missingEffects == [])
            }
        }

        @Test("T1 a thread infers nothing: not from the thread, the task, the context or the activity that made it")
        func infersNothing() async throws {
            let task = Task(priority: .userInitiated) {
                try ServiceContext.withValue(.request(4)) {
                    try QoS.performActivity(.latencyCritical, reason: "around") {
                        let thread = QoSThread(name: "plain") { (QoS.currentLevel, ServiceContext.currentRequest) }
                        try thread.start()
                        return try thread.join()
                    }
                }
            }
            let (level, request) = try await task.value
            #expect(level == nil)
            #expect(request == nil)
        }

        @Test("T2 the running thread changes its own level, and its scheduling with it")
        func setCurrent() throws {
            try LockKernelStage.with(.all) { stage in
                let thread = QoSThread(name: "changes", level: .utility) { () throws -> [Int] in
                    let before = try stage.ownNice
                    try QoSThread.setCurrentLevel(.userInitiated)
                    #expect(QoSThread.currentLevel == .userInitiated)
                    return [before, try stage.ownNice]
                }
                try thread.start()
                #expect(try thread.join() == [LockKernelStage.nice(.utility), LockKernelStage.nice(.userInitiated)])
                #expect(thread.level == .userInitiated)
            }
        }

        @Test("T2 what the kernel refuses is readable and keeps the level from nothing else")
        func refusedEffects() throws {
            try LockKernelStage.with(.none) { _ in
                let thread = QoSThread(name: "refused", level: .utility) {
                    try QoSThread.setCurrentLevel(.userInitiated)
                }
                try thread.start()
                try thread.join()
                #expect(thread.level == .userInitiated)
                #expect(thread.missingEffects.contains("nice"))
            }
        }

        @Test("T2 a thread without a level of its own is told so")
        func foreignThread() throws {
            let errors = Collected<QoSThreadError>()
            try RunningThread(name: "foreign") {
                do throws(QoSThreadError) { try QoSThread.setCurrentLevel(.utility) } catch { errors.append(error) }
                do throws(QoSThreadError) { try QoSThread.setCurrentNice(5) } catch { errors.append(error) }
            }.join()
            #expect(errors.all == [.noLevelOfItsOwn, .noLevelOfItsOwn])
        }

        @Test("T3 to set the level of a started thread from outside is an error, before and after its end")
        func setFromOutside() throws {
            let gate = Gate()
            let thread = QoSThread(name: "started", level: .utility) { gate.blockThread() }
            try thread.start()
            #expect(throws: QoSThreadError.alreadyStarted(name: "started")) { try thread.setLevel(.userInitiated) }
            gate.open()
            try thread.join()
            #expect(throws: QoSThreadError.alreadyStarted(name: "started")) { try thread.setLevel(.userInitiated) }
            #expect(throws: QoSThreadError.alreadyStarted(name: "started")) { try thread.start() }
            #expect(thread.level == .utility)
        }

        @Test(
            "T4 a thread that sets its nice value or policy itself is opted out: unspecified, and no level any more",
            arguments: [false, true])
        func optOut(byPolicy: Bool) throws {
            try LockKernelStage.with(.all) { stage in
                let thread = QoSThread(name: "legacy", level: .userInitiated) { () throws -> [QoSLevel?] in
                    if byPolicy { try QoSThread.setCurrentPolicy(.batch) } else { try QoSThread.setCurrentNice(7) }
                    #expect(throws: QoSThreadError.optedOut) { try QoSThread.setCurrentLevel(.utility) }
                    #expect(try stage.ownNice == (byPolicy ? LockKernelStage.nice(.userInitiated) : 7))
                    return [QoSThread.currentLevel, QoS.currentLevel]
                }
                try thread.start()
                #expect(try thread.join() == [nil, nil])
                #expect(thread.level == nil)
            }
        }

        @Test(
            "T4 a legacy call that the kernel refuses, or that makes no sense, changes nothing",
            arguments: [-21, 20, -5])
        func refusedLegacyCall(nice: Int) throws {
            func run() throws {
                let thread = QoSThread(name: "legacy", level: .userInitiated) {
                    do throws(QoSThreadError) {
                        try QoSThread.setCurrentNice(nice)
                        Issue.record("nice \(nice) was taken")
                    } catch {
                        if case .refused = error {} else { Issue.record("\(error)") }
                    }
                    #expect(QoSThread.currentLevel == .userInitiated)
                }
                try thread.start()
                try thread.join()
            }
            // Only the real kernel knows the range, only the simulated one is sure to refuse.
            if Scheduling.niceRange ~= nice { try LockKernelStage.with(.none) { _ in try run() } } else { try run() }
        }

        @Test("T5 the main thread's level can be read from anywhere; of a service it is default")
        func mainLevel() {
            #expect(QoSThread.mainLevel == .default)
        }

        @Test("a thread's result or error comes to everybody who waits for it, threads and tasks")
        func results() async throws {
            struct Broken: Error {}
            let gate = Gate()
            let thread = QoSThread(name: "result") {
                gate.blockThread()
                return 42
            }
            #expect(throws: QoSThreadError.notStarted(name: "result")) { try thread.join() }
            await #expect(throws: QoSThreadError.notStarted(name: "result")) { try await thread.value }
            try thread.start()
            let joined = Collected<Int>()
            let joiners = try (0..<4).map { _ in
                try RunningThread(name: "join") { (try? thread.join()).map(joined.append) }
            }
            let tasks = (0..<4).map { _ in Task { try await thread.value } }
            gate.open()
            for task in tasks { #expect(try await task.value == 42) }
            for joiner in joiners { try joiner.join() }
            #expect(joined.all == [42, 42, 42, 42])
            let failing = QoSThread(name: "error") { () throws -> Int in throw Broken() }
            try failing.start()
            await #expect(throws: Broken.self) { try await failing.value }
            #expect(throws: Broken.self) { try failing.join() }
        }

        @Test("a thread that joins itself is told so; one that cannot be made says why and may be tried again")
        func misuse() throws {
            let holder = Lock<QoSThread<Void>?>(nil)
            let isKnown = Gate()
            let thread = QoSThread(name: "self") {
                isKnown.blockThread()
                let own = holder.withLock { $0 }
                #expect(throws: QoSThreadError.joinsItself(name: "self")) { try own?.join() }
            }
            holder.withLock { $0 = thread }
            isKnown.open()
            try thread.start()
            try thread.join()
            let impossible = QoSThread(name: "stack", stackSize: -1) {}
            for _ in 0..<2 {
                #expect { try impossible.start() } throws: { error in
                    if case QoSThreadError.refused? = error as? QoSThreadError { true } else { false }
                }
            }
            try impossible.setLevel(.utility)
        }
    }
}

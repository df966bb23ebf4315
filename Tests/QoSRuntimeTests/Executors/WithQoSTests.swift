import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("withQoS", .timeLimit(.minutes(5)))
struct WithQoSTests {
    private struct Refused: Error, Equatable {
        let code: Int
    }

    private actor Plain {
        func classInside(of scheduler: QoSScheduler, _ qosClass: QoSClass) async -> [QoSClass?] {
            let inside = await scheduler.withQoS(qosClass) {
                assertIsolated()
                return CurrentThread.qosClass
            }
            assertIsolated()
            return [inside, CurrentThread.qosClass]
        }
    }

    private actor Own {
        private let executor: QoSSerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

        init(_ scheduler: QoSScheduler) {
            executor = scheduler.makeSerialExecutor()
        }

        func classInside(of scheduler: QoSScheduler, _ qosClass: QoSClass) async -> QoSClass? {
            await scheduler.withQoS(qosClass) {
                assertIsolated()
                return CurrentThread.qosClass
            }
        }
    }

    @Test("runs its operation at the class, and the task is as before when it has ended", arguments: QoSClass.allCases)
    func scope(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let before = CurrentThread.qosClass
            let inside = await scheduler.withQoS(qosClass) { CurrentThread.qosClass }
            #expect(before == nil)
            #expect(inside == qosClass)
            #expect(CurrentThread.qosClass == nil)
        }
    }

    @Test(
        "O1 B6 what it runs submits with its class, whatever the priority of the task, and so do child tasks",
        arguments: QoSClass.allCases)
    func level(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("infers")
            let seen = try await Task.detached(priority: .medium) {
                let inside = try await scheduler.withQoS(qosClass) {
                    async let child = QoS.currentLevel
                    let group = await withTaskGroup(of: QoSLevel?.self) { group in
                        group.addTask { QoS.currentLevel }
                        return await group.next() ?? nil
                    }
                    let item = try await queue.run { QoS.currentLevel }
                    return await [QoS.currentLevel, child, group, item]
                }
                return inside + [QoS.currentLevel]
            }.escaped
            let level = QoSLevel(qosClass)
            // The item infers it, and whoever awaits it raises it to what it is itself.
            #expect(seen == [level, level, level, level, .default])
        }
    }

    @Test("O8 something higher that waits for the task raises its level within")
    func raisedLevel() async throws {
        try await withScheduler { scheduler in
            let begun = Gate()
            let task = Task.detached(priority: .low) {
                await scheduler.withQoS(.background) {
                    let before = QoS.currentLevel
                    begun.open()
                    await raised(to: .high)
                    return [before, QoS.currentLevel]
                }
            }
            await begun.passed()
            let seen = await Task.detached(priority: .high) { await task.value }.value
            #expect(seen == [.background, .userInitiated])
        }
    }

    @Test("S8 the innermost of withQoS and activities counts")
    func amongActivities() async throws {
        try await withScheduler { scheduler in
            let seen = await scheduler.withQoS(.background) {
                await QoS.performActivity(.userInitiated, reason: "inner") {
                    let inner = await scheduler.withQoS(.utility) { (QoS.currentLevel, QoS.activity?.reason) }
                    return [QoS.currentLevel, inner.0, inner.1 == "inner" ? QoSLevel.default : nil]
                } + [QoS.currentLevel]
            }
            #expect(seen == [.userInitiated, .utility, .default, .background])
        }
    }

    @Test("nests, and comes back to the outer class")
    func nesting() async throws {
        try await withScheduler { scheduler in
            let classes = await scheduler.withQoS(.background) {
                let outer = CurrentThread.qosClass
                let inner = await scheduler.withQoS(.userInitiated) {
                    await Task.yield()
                    return CurrentThread.qosClass
                }
                return [outer, inner, CurrentThread.qosClass]
            }
            #expect(classes == [.background, .userInitiated, .background])
        }
    }

    @Test("throws what its operation throws, by its type")
    func throwing() async throws {
        try await withScheduler { scheduler in
            do throws(Refused) {
                try await scheduler.withQoS(.utility) { () async throws(Refused) in throw Refused(code: 7) }
                Issue.record("nothing was thrown")
            } catch {
                #expect(error == Refused(code: 7))
            }
        }
    }

    @Test("its child tasks run at the class too")
    func children() async throws {
        try await withScheduler { scheduler in
            let classes = await scheduler.withQoS(.utility) {
                async let first = CurrentThread.qosClass
                let second = await withTaskGroup(of: QoSClass?.self) { group in
                    group.addTask { CurrentThread.qosClass }
                    return await group.next() ?? nil
                }
                return await [first, second]
            }
            #expect(classes == [.utility, .utility])
        }
    }

    @Test("an actor without an executor of its own goes along and stays isolated", arguments: QoSClass.allCases)
    func defaultActor(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let classes = await Plain().classInside(of: scheduler, qosClass)
            #expect(classes == [qosClass, nil])
        }
    }

    @Test("an actor with an executor of its own stays where it is")
    func actorWithExecutor() async throws {
        try await withScheduler { scheduler in
            let actor = Own(scheduler)
            let qosClass = await Task.detached(priority: .background) {
                let inside = await actor.classInside(of: scheduler, .userInteractive)
                return inside
            }.escaped
            #expect(qosClass == .background)
        }
    }
}

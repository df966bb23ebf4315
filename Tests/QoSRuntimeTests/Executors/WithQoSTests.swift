import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("withQoS", .timeLimit(.minutes(10)))
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

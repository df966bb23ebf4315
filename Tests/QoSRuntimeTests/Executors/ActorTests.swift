import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Actors on the pools", .timeLimit(.minutes(5)))
struct ActorTests {
    private actor Counter {
        private(set) var count = 0
        func add() { count += 1 }
        func addSlowly() async {
            let before = count
            await Task.yield()
            assertIsolated()
            count += before > count ? 0 : 1
        }
        func ranAt() -> QoSClass? { CurrentThread.qosClass }
    }

    @Test("a default actor runs one call at a time, whatever classes they come from")
    func exclusive() async throws {
        try await withScheduler { scheduler in
            let counter = Counter()
            await withTaskGroup { group in
                for index in 0..<100 {
                    let qosClass = QoSClass.allCases[index % 5]
                    group.addTask(
                        executorPreference: scheduler.executor(for: qosClass), priority: qosClass.taskPriority
                    ) {
                        for _ in 0..<100 {
                            await counter.add()
                            await counter.addSlowly()
                        }
                    }
                }
            }
            let count = await counter.count
            #expect(count == 20_000)
        }
    }

    @Test("a default actor runs in the pool that its caller prefers", arguments: QoSClass.allCases)
    func preference(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let ranAt = await Task(executorPreference: scheduler.executor(for: qosClass)) {
                await Counter().ranAt()
            }.escaped
            #expect(ranAt == qosClass)
        }
    }

    @Test("a visit to the main actor ends in the pool again")
    func mainActor() async throws {
        try await withScheduler { scheduler in
            let classes = await Task(executorPreference: scheduler.executor(for: .utility)) {
                var classes: [QoSClass?] = []
                for _ in 0..<10 {
                    await MainActor.run { classes.append(CurrentThread.qosClass) }
                    classes.append(CurrentThread.qosClass)
                }
                return classes
            }.escaped
            #expect(classes == Array(repeating: [nil, .utility], count: 10).flatMap { $0 })
        }
    }
}

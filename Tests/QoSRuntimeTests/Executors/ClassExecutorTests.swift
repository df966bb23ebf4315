import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Executors by preference", .timeLimit(.minutes(5)))
struct ClassExecutorTests {
    @Test("the tasks of a class run on the threads of its pool", arguments: QoSClass.allCases)
    func threads(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let names = await withTaskGroup(of: String.self, returning: Set<String>.self) { group in
                for _ in 0..<20 {
                    group.addTask(executorPreference: scheduler.executor(for: qosClass)) { CurrentThread.name }
                }
                return await group.reduce(into: []) { $0.insert($1) }
            }
            let all = Set((0..<2).map { "qos-\(qosClass.abbreviation)-\($0)" })
            #expect(!names.isEmpty)
            #expect(names.isSubset(of: all), "\(names)")
        }
    }

    @Test("an executor of a class goes by its class, not by the task's priority", arguments: QoSClass.allCases)
    func classBeatsPriority(_ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            for priority in [TaskPriority.background, .medium, .userInteractive] {
                let ranAt = Collected<QoSClass?>()
                let finished = Gate()
                // Awaiting the task itself would raise it.
                Task.detached(executorPreference: scheduler.executor(for: qosClass), priority: priority) {
                    ranAt.append(CurrentThread.qosClass)
                    await Task.yield()
                    ranAt.append(CurrentThread.qosClass)
                    finished.open()
                }
                await finished.passed()
                #expect(ranAt.all == [qosClass, qosClass])
            }
        }
    }

    @Test(
        "C4 the executor by priority runs each raw value in the pool of the highest class that is not above it",
        arguments: [
            (1, .background), (8, .background), (9, .background), (16, .background), (17, .utility), (20, .utility),
            (21, .default), (24, .default), (25, .userInitiated), (32, .userInitiated), (33, .userInteractive),
            (255, .userInteractive),
        ] as [(UInt8, QoSClass)])
    func priorities(_ rawValue: UInt8, _ qosClass: QoSClass) async throws {
        try await withScheduler { scheduler in
            let ranAt = Collected<QoSClass?>()
            let finished = Gate()
            Task.detached(executorPreference: scheduler.executor, priority: TaskPriority(rawValue: rawValue)) {
                ranAt.append(CurrentThread.qosClass)
                finished.open()
            }
            await finished.passed()
            #expect(ranAt.all == [qosClass])
        }
    }

    @Test("C2 a job without a priority runs at default")
    func unspecified() async throws {
        try await withScheduler { scheduler in
            let ranAt: QoSClass? = await withCheckedContinuation { continuation in
                let job = UnownedJob(
                    _swift_createJobForTestingOnly(priority: TaskPriority(rawValue: 0)) {
                        continuation.resume(returning: CurrentThread.qosClass)
                    })
                scheduler.executor.enqueue(job)
            }
            #expect(ranAt == .default)
        }
    }

    @Test("child tasks follow the preference: those of groups and those of async let")
    func children() async throws {
        try await withScheduler { scheduler in
            let classes = await Task(executorPreference: scheduler.executor(for: .utility)) {
                async let first = CurrentThread.qosClass
                async let second = grandchild()
                let third = await withTaskGroup(of: QoSClass?.self) { group in
                    group.addTask { CurrentThread.qosClass }
                    group.addTask { CurrentThread.qosClass }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                return await [first, second] + third
            }.escaped
            #expect(classes == Array(repeating: .utility, count: 4))
        }
    }

    private func grandchild() async -> QoSClass? {
        async let own = CurrentThread.qosClass
        return await own
    }

    @Test("unstructured and detached tasks do not follow the preference, as the language has it")
    func unstructured() async throws {
        try await withScheduler { scheduler in
            let classes = await Task(executorPreference: scheduler.executor(for: .utility)) {
                let unstructured = await Task { CurrentThread.qosClass }.value
                let detached = await Task.detached { CurrentThread.qosClass }.value
                return [unstructured, detached]
            }.value
            #expect(classes == [nil, nil])
        }
    }

    @Test("a child may prefer another class than its parent")
    func otherClass() async throws {
        try await withScheduler { scheduler in
            let classes = await Task(executorPreference: scheduler.executor(for: .utility)) {
                await withTaskGroup(of: QoSClass?.self) { group in
                    group.addTask(executorPreference: scheduler.executor(for: .background)) { CurrentThread.qosClass }
                    let child = await group.next()
                    return [child, CurrentThread.qosClass]
                }
            }.escaped
            #expect(classes == [.background, .utility])
        }
    }

    @Test("several schedulers work side by side, each with threads of its own")
    func severalSchedulers() async throws {
        try await withScheduler { first in
            try await withScheduler { second in
                let firstID = await Task(executorPreference: first.executor(for: .utility)) { CurrentThread.id }.value
                let secondID = await Task(executorPreference: second.executor(for: .utility)) { CurrentThread.id }.value
                let nested = await Task(executorPreference: first.executor(for: .utility)) {
                    await second.withQoS(.background) { CurrentThread.name }
                }.escaped
                #expect(firstID != secondID)
                #expect(nested.hasPrefix("qos-bg-"))
            }
        }
    }
}

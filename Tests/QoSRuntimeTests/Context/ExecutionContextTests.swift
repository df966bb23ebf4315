import QoSCore
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import ServiceContextModule
import Testing

@Suite("Execution context", .timeLimit(.minutes(5)))
struct ExecutionContextTests {
    /// Level, request and activity of the calling code.
    private struct Seen: Equatable, Sendable {
        let level: QoSLevel?
        let request: Int?
        let activity: UInt64?

        static var now: Seen {
            Seen(level: QoS.currentLevel, request: ServiceContext.currentRequest, activity: QoS.activity?.id)
        }
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws -> Value {
        let value = Collected<Value>()
        try RunningThread(name: "context") { value.append(body()) }.join()
        return try #require(value.all.first)
    }

    @Test("X1 the context travels from task to child, to a group's children, to unstructured tasks and over sleeps")
    func tasks() async throws {
        try await withScheduler { scheduler in
            let seen = try await ServiceContext.withValue(.request(7)) {
                try await QoS.performActivity(.userInitiated, reason: "test") {
                    let id = try #require(QoS.activity?.id)
                    return try await scheduler.withQoS(.utility) {
                        async let child = Seen.now
                        let group = await withTaskGroup(of: Seen.self) { group in
                            for _ in 0..<4 { group.addTask { Seen.now } }
                            return await group.reduce(into: [Seen]()) { $0.append($1) }
                        }
                        let unstructured = await Task { Seen.now }.value
                        // What the context is to travel over.
                        try await Task.sleep(for: .microseconds(10))
                        let all = await group + [child, unstructured, Seen.now]
                        return all.map { $0.request == 7 && $0.activity == id && $0.level == .utility }
                    }
                }
            }
            #expect(seen == Array(repeating: true, count: 7))
        }
    }

    @Test("X1 a detached task has nothing of the context")
    func detachedTask() async {
        let seen = await ServiceContext.withValue(.request(7)) {
            await QoS.performActivity(.background, reason: "test") {
                await Task.detached(priority: .userInteractive) { Seen.now }.value
            }
        }
        #expect(seen == Seen(level: .userInteractive, request: nil, activity: nil))
    }

    @Test("X2 what was captured is there where the body runs, on any thread, and nothing of it afterwards")
    func captured() async throws {
        let context = ServiceContext.withValue(.request(9)) { () -> ExecutionContext in
            var context = ExecutionContext.current
            context.level = .utility
            return context
        }
        let (inside, afterwards) = try onThread { (context.run { Seen.now }, Seen.now) }
        #expect(inside == Seen(level: .utility, request: 9, activity: nil))
        #expect(afterwards == Seen(level: nil, request: nil, activity: nil))
    }

    @Test("X2 an async body has the captured context over its suspensions and in its tasks")
    func capturedAsync() async {
        let context = ExecutionContext(level: .userInitiated, serviceContext: .request(11))
        let seen = await Task(priority: .utility) {
            let inside = await context.run {
                await Task.yield()
                async let child = Seen.now
                let unstructured = Task { Seen.now }
                return await [Seen.now, child, unstructured.value]
            }
            return (inside, Seen.now)
        }.escaped
        #expect(seen.0 == Array(repeating: Seen(level: .userInitiated, request: 11, activity: nil), count: 3))
        #expect(seen.1.request == nil)
    }

    @Test("X2 assignCurrent: what was captured at creation counts, not what is there at submission")
    func assignCurrent() throws {
        let context = ServiceContext.withValue(.request(1)) {
            QoS.performActivity(.background, reason: "creation") { ExecutionContext.current }
        }
        let seen = try onThread {
            ServiceContext.withValue(.request(2)) {
                QoS.performActivity(.userInitiated, reason: "submission") { context.run { Seen.now } }
            }
        }
        #expect(seen == Seen(level: .background, request: 1, activity: context.activity?.id))
    }

    @Test("X2 detached: neither level nor context leak into the body, out of no kind of scope")
    func detached() async throws {
        let context = ExecutionContext(level: .utility, serviceContext: .request(3))
        let seen = try onThread {
            context.run {
                QoS.performActivity(.userInitiated, reason: "around") { ExecutionContext.detached.run { Seen.now } }
            }
        }
        #expect(seen == Seen(level: nil, request: nil, activity: nil))
        #expect(ExecutionContext.detached.inferredLevel == nil)
    }

    @Test("X2 a task that a detached body starts has nothing either")
    func taskOfDetachedBody() async throws {
        let task = ServiceContext.withValue(.request(3)) {
            ExecutionContext(level: .utility).run {
                ExecutionContext.detached.run { Task(priority: .background) { Seen.now.request } }
            }
        }
        #expect(await task.value == nil)
    }

    @Test("X2 an error of the body comes out with its type, and the context ends with it")
    func errors() async {
        struct Broken: Error, Equatable {}
        let context = ExecutionContext(level: .utility, serviceContext: .request(3))
        #expect(throws: Broken.self) {
            try context.run { () throws(Broken) -> Void in throw Broken() }
        }
        await #expect(throws: Broken.self) {
            try await context.run { () async throws(Broken) -> Void in throw Broken() }
        }
        #expect(ServiceContext.currentRequest == nil)
    }

    @Test("B6 the level is captured as it is and handed on translated")
    func translation() async {
        let context = await Task(priority: .userInteractive) { ExecutionContext.current }.value
        #expect(context.level == .userInteractive)
        #expect(context.inferredLevel == .userInitiated)
    }

    @Test("B9 the same context may be run on many threads at once")
    func manyThreads() throws {
        let context = ExecutionContext(level: .utility, serviceContext: .request(5))
        let seen = Collected<Seen>()
        let threads = try (0..<8).map { _ in
            try RunningThread(name: "context") { for _ in 0..<500 { context.run { seen.append(.now) } } }
        }
        for thread in threads { try thread.join() }
        #expect(seen.all.count == 4000)
        #expect(seen.all.allSatisfy { $0 == Seen(level: .utility, request: 5, activity: nil) })
    }
}

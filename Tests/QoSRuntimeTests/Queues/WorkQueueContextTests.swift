import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import ServiceContextModule
import Testing

private enum NameKey: ServiceContextKey {
    typealias Value = String
}

@Suite("Context that goes with items", .timeLimit(.minutes(5)))
struct WorkQueueContextTests {
    private func withName<Success>(_ name: String, _ body: () throws -> Success) rethrows -> Success {
        var context = ServiceContext.topLevel
        context[NameKey.self] = name
        return try ServiceContext.withValue(context, operation: body)
    }

    private static var name: String? { ServiceContext.current?[NameKey.self] }

    @Test("X1 X2 the service context goes with a submission, as it is then; detached and delayed items have none")
    func submissions() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("context")
            let seen = Collected<String?>()
            let done = Gate()
            try withName("submitter") {
                let item = WorkItem { seen.append(Self.name) }
                try withName("inner") { try queue.async(item) }
                queue.async { seen.append(Self.name) }
                queue.async(flags: .detached) { seen.append(Self.name) }
            }
            withName("delayed") {
                queue.async(after: .milliseconds(1)) {
                    seen.append(Self.name)
                    done.open()
                }
            }
            await done.passed()
            #expect(seen.all == ["inner", "submitter", nil, nil])
        }
    }

    @Test("B9 X2 assignCurrent takes the context of the code that made the item")
    func creation() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("context")
            let seen = Collected<String?>()
            let item = withName("maker") { WorkItem(flags: .assignCurrent) { seen.append(Self.name) } }
            try withName("submitter") { try queue.async(item) }
            await item.waitUntilFinished()
            #expect(seen.all == ["maker"])
        }
    }

    @Test("X1 the activity goes along, and ends with the item")
    func activity() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("context")
            let reason = await QoS.performActivity(.background, reason: "a backup") {
                let seen = Collected<String?>()
                let item = WorkItem { seen.append(QoS.activity?.reason) }
                try? queue.async(item)
                await item.waitUntilFinished()
                return seen.all.first ?? nil
            }
            #expect(reason == "a backup")
            let after = try await queue.run { QoS.activity?.reason }
            #expect(after == nil)
        }
    }

    @Test(
        "X1 X2 B10 timers, delayed and detached items have no activity; with assignCurrent it is the maker's"
    )
    func detachedActivity() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("context")
            let (timer, delayed, detached, assigned) = (
                Collected<String?>(), Collected<String?>(), Collected<String?>(), Collected<String?>()
            )
            let (fired, done) = (Gate(), Gate())
            let maker = QoS.withActivity("maker") {
                WorkItem(flags: .assignCurrent) { assigned.append(QoS.activity?.reason) }
            }
            let source = try QoS.withActivity("submitter") {
                queue.async(flags: .detached) { detached.append(QoS.activity?.reason) }
                queue.async(after: .milliseconds(1)) {
                    delayed.append(QoS.activity?.reason)
                    done.open()
                }
                try queue.async(after: .milliseconds(1), maker)
                return queue.makeTimer(after: .milliseconds(1)) { _ in
                    timer.append(QoS.activity?.reason)
                    fired.open()
                }
            }
            await done.passed()
            await fired.passed()
            await maker.waitUntilFinished()
            source.cancel()
            #expect(timer.all == [nil] && delayed.all == [nil] && detached.all == [nil])
            #expect(assigned.all == ["maker"])
        }
    }
}

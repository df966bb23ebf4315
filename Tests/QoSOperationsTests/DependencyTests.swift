import QoSCore
import QoSOperations
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Dependencies that are removed", .timeLimit(.minutes(5)))
struct DependencyTests {
    struct Broken: Error {}

    @Test("O5 O10 a dependency that is removed before the start is not waited for; the promotion that it gave stays")
    func removed() async throws {
        try await withScheduler { scheduler in
            let (queue, other) = (QoSOperationQueue(scheduler: scheduler), QoSOperationQueue(scheduler: scheduler))
            let gate = Gate()
            let first = other.addOperation(name: "first", level: .background) { await gate.passed() }
            let second = other.addOperation(name: "second", level: .background) { await gate.passed() }
            let child = QoSOperation(name: "child", level: .utility) { 1 }
            for _ in 0..<2 { try child.addDependencies([first, second]) }
            #expect(child.unfinishedDependencies.map(\.name) == ["first", "second"])
            try queue.add(child)
            try child.removeDependency(first)
            #expect(child.unfinishedDependencies.map(\.name) == ["second"])
            #expect(!child.isRunning && !child.isFinished)
            try child.removeDependency(second)
            try await child.waitUntilFinished()
            #expect(try #require(first.effectiveLevel) >= .utility)
            #expect(!first.isFinished)
            gate.open()
            try await other.waitUntilAllFinished()
        }
    }

    @Test("O10 O11 after the start a dependency cannot be removed; one that is not there, or has ended, may be")
    func removedTooLate() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler)
            let (started, gate) = (Gate(), Gate())
            let failed = queue.addOperation(name: "failed") { throw Broken() }
            try await failed.waitUntilFinished()
            let stranger = QoSOperation {}
            let running = QoSOperation(name: "running") {
                started.open()
                await gate.passed()
            }
            try running.removeDependency(stranger)
            try queue.add(running)
            await started.passed()
            let refused = OperationError.dependencyAfterStart("running")
            try stranger.addDependency(running)
            #expect(throws: refused) { try running.removeDependency(failed) }
            gate.open()
            try await running.waitUntilFinished()
            #expect(throws: refused) { try running.removeDependency(stranger) }
            let doomed = QoSOperation(name: "doomed") {}
            try doomed.addDependency(failed)
            try doomed.removeDependency(failed)
            try queue.add(doomed)
            await #expect(throws: OperationError.dependencyFailed("doomed")) { try await doomed.value }
        }
    }

    @Test("O10 with the dependency the circle is gone that it would have closed")
    func cycle() throws {
        let (first, second) = (QoSOperation(name: "a") {}, QoSOperation(name: "b") {})
        try second.addDependency(first)
        #expect(throws: OperationError.dependencyCycle(["a", "b"])) { try first.addDependency(second) }
        try second.removeDependency(first)
        try first.addDependency(second)
        #expect(throws: OperationError.dependencyCycle(["b", "a"])) { try second.addDependency(first) }
    }

    @Test("O11 what was removed does not take its dependent with it when it fails")
    func failureOfRemoved() async throws {
        try await withScheduler { scheduler in
            let queue = QoSOperationQueue(scheduler: scheduler, isSuspended: true)
            let failing = queue.addOperation(name: "failing") { throw Broken() }
            let child = QoSOperation(name: "child") { 1 }
            try child.addDependency(failing)
            try queue.add(child)
            try child.removeDependency(failing)
            try queue.resume()
            #expect(try await child.value == 1)
            try await queue.waitUntilAllFinished()
        }
    }
}

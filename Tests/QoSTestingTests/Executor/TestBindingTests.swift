import Foundation
import QoSCore
import QoSProcessTestSupport
import QoSTesting
import Testing

/// A value that a library keeps for the test, as libraries of dependencies do.
private enum Dependency {
    @TaskLocal static var value = "of nobody"
}

@Suite("A deterministic scheduler in a test", .timeLimit(.minutes(5)))
struct TestBindingTests {
    @Test("the operation has the test's task-locals: Test.current, dependencies; a detached task has none")
    func taskLocals() throws {
        let scheduler = DeterministicScheduler()
        let seen = try Dependency.$value.withValue("of the test") {
            try scheduler.run {
                let child = await withTaskGroup(of: String.self) { group in
                    group.addTask { Dependency.value }
                    return await group.next() ?? ""
                }
                let started = await scheduler.startTask(at: .utility) { Dependency.value }.value
                let detached = await scheduler.startDetachedTask(at: .utility) { Dependency.value }.value
                return [Test.current?.name, Dependency.value, child, started, detached]
            }
        }
        #expect(seen == ["taskLocals()", "of the test", "of the test", "of the test", "of nobody"])
    }

    @Test("an expectation that fails in the operation is a known issue of the test, if the test says so")
    func knownIssue() throws {
        withKnownIssue {
            try DeterministicScheduler(order: .shuffled(seed: 3)).run {
                await Task.yield()
                #expect(Bool(false))
            }
        }
    }

    @Test("an expectation is not met, in another order than that of a seed: no seed is named")
    func noSeed() throws {
        try withKnownIssue {
            try DeterministicScheduler().run { #expect(Bool(false)) }
        } matching: { issue in
            issue.comments.isEmpty
        }
    }

    @Test("an operation whose caller is cancelled is cancelled, and given up if it does not end")
    func cancelled() async {
        let outcomes = await Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            let scheduler = DeterministicScheduler()
            let ends = try? scheduler.run {
                do {
                    try await scheduler.clock.sleep(for: .seconds(60))
                    return "slept"
                } catch {
                    return "was cancelled"
                }
            }
            let never = #expect(throws: CancellationError.self) {
                try scheduler.run { while true { await Task.yield() } }
            }
            return (ends, never != nil)
        }.value
        #expect(outcomes.0 == "was cancelled")
        #expect(outcomes.1)
    }

    // MARK: Tests that fail, in a process of their own

    /// The events of a run of ``FailingTests`` in a child process: what failed, and the words of its issues.
    private func runFailing(_ function: String) async throws -> (
        status: Int32, issues: [String: [String]], text: String
    ) {
        let events = FileManager.default.temporaryDirectory.appendingPathComponent("events-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: events) }
        let process = try DriverProcess(
            program: "/usr/bin/env",
            [
                "\(variableOfFailingTests)=1", URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path,
                "--testing-library", "swift-testing", "--filter", "FailingTests/\(function)",
                "--event-stream-output-path", events.path, "--event-stream-version", "0",
            ])
        let ending = await process.ending()
        var issues: [String: [String]] = [:]
        for line in try String(contentsOf: events, encoding: .utf8).split(separator: "\n") {
            let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let payload = record?["payload"] as? [String: Any], payload["kind"] as? String == "issueRecorded"
            else {
                continue
            }
            let texts = (payload["messages"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String }
            issues[payload["testID"] as? String ?? "«unknown»", default: []] += texts
        }
        return (ending.status, issues, ending.output + ending.errors)
    }

    @Test("a test whose expectation fails in the operation fails: its process says so, and names the seed")
    func failingExpectation() async throws {
        let (status, issues, text) = try await runFailing("expectation")
        #expect(status != 0, "\(text)")
        #expect(issues.count == 1, "\(issues)")
        let issue = try #require(issues.first)
        #expect(issue.key.contains("FailingTests/expectation()"), "\(issues)")
        #expect(issue.value.contains { $0.contains("1 + 1 == 3") || $0.contains("Expectation failed") }, "\(issues)")
        #expect(issue.value.contains { $0.contains("shuffled(seed: 4711)") }, "\(issues)")
    }

    @Test("a test whose operation throws fails, and the seed is named beside the error")
    func failingError() async throws {
        let (status, issues, text) = try await runFailing("error")
        #expect(status != 0, "\(text)")
        #expect(issues.keys.allSatisfy { $0.contains("FailingTests/error()") }, "\(issues)")
        // A line on standard error has the seed.
        #expect(text.contains("shuffled(seed: 42)"), "\(text)")
    }

    @Test("a test whose code starts a task without an executor fails, and the task is named")
    func failingDeparture() async throws {
        let (status, issues, text) = try await runFailing("departure")
        #expect(status != 0, "\(text)")
        #expect(issues.values.joined().contains { $0.contains("the task 'refresh'") }, "\(issues)")
    }
}

private let variableOfFailingTests = "QOS_TEST_FAILING_TESTS"

/// Tests that fail, for a child process alone.
@Suite(
    "Tests that fail on purpose",
    .enabled(if: ProcessInfo.processInfo.environment[variableOfFailingTests] != nil))
struct FailingTests {
    @Test func expectation() throws {
        try DeterministicScheduler(order: .shuffled(seed: 4711)).run {
            await Task.yield()
            #expect(1 + 1 == 3)
        }
    }

    @Test func error() throws {
        struct Broken: Error {}
        try DeterministicScheduler(order: .shuffled(seed: 42)).run {
            await Task.yield()
            throw Broken()
        }
    }

    @Test func departure() throws {
        _ = try DeterministicScheduler().run { Task(name: "refresh") {} }
    }
}

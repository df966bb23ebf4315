import Foundation
import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("Work queues after the end of their scheduler", .serialized, .timeLimit(.minutes(5)))
struct QueueAfterEndTests {
    /// More items than the process's default executor has threads.
    private static let items = ProcessInfo.processInfo.activeProcessorCount * 4 + 8

    private static func endedScheduler() async throws -> QoSScheduler {
        let scheduler = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        try await scheduler.shutdown()
        return scheduler
    }

    @Test(
        "items that submit synchronously behind work of their own get on, though they block every thread that there is")
    func nestedSync() async throws {
        let scheduler = try await Self.endedScheduler()
        let (group, ran) = (WorkGroup(), Tally())
        let outer = scheduler.globalQueue(for: .default)
        for number in 0..<Self.items {
            let queue = scheduler.makeQueue("queue \(number)", number % 2 == 0 ? .serial : .concurrent)
            outer.async(in: group) {
                for _ in 0..<3 { queue.async { ran.add() } }
                #expect(throws: Never.self) { try queue.sync(flags: .barrier) { _ = ran.add() } }
            }
        }
        await group.waitUntilFinished()
        #expect(ran.value == Self.items * 4)
    }

    @Test("items that wait for items get on, through targets as well")
    func nestedWait() async throws {
        let scheduler = try await Self.endedScheduler()
        let (group, ran) = (WorkGroup(), Tally())
        let outer = scheduler.makeQueue("outer", .concurrent)
        for number in 0..<Self.items {
            let target = scheduler.makeQueue("target \(number)")
            let queue = try scheduler.makeQueue("queue \(number)", target: target)
            outer.async(in: group) {
                let item = WorkItem { ran.add() }
                #expect(throws: Never.self) {
                    try queue.async(item)
                    try item.blockUntilFinished()
                }
            }
        }
        await group.waitUntilFinished()
        #expect(ran.value == Self.items)
    }

    @Test("threads that sleep when the scheduler ends run what they wait for themselves from then on")
    func sleepers() async throws {
        let other = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        let scheduler = try QoSScheduler(
            configuration: .init(processors: 1, appliesKernelEffects: false, detectsBlocking: false))
        let (held, goOn, ran) = (Gate(), Gate(), Tally())
        // Its only worker of the class is busy for as long as the others wait.
        scheduler.globalQueue(for: .default).async {
            held.open()
            goOn.blockThread()
        }
        await held.passed()
        // The default executor cannot be trusted with this: all of its threads are about to be blocked.
        let end = Task(executorPreference: other.executor(for: .default)) {
            while scheduler.core.sleepers.count < ProcessInfo.processInfo.activeProcessorCount { await Task.yield() }
            try await scheduler.shutdown(within: .zero)
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Self.items {
                let queue = scheduler.makeQueue("queue \(number)", level: .default)
                group.addTask {
                    queue.async { ran.add() }
                    #expect(throws: Never.self) { try queue.sync { _ = ran.add() } }
                }
            }
        }
        #expect(ran.value == Self.items * 2)
        goOn.open()
        try await end.value
        #expect(scheduler.core.sleepers.count == 0)
        try await other.shutdown()
    }

    @Test("items that wait for a group of items get on, though they block every thread that there is")
    func nestedGroups() async throws {
        let scheduler = try await Self.endedScheduler()
        let (all, ran) = (WorkGroup(), Tally())
        let outer = scheduler.globalQueue(for: .default)
        for number in 0..<Self.items {
            let target = scheduler.makeQueue("target \(number)")
            let queues = [
                try scheduler.makeQueue("serial \(number)", target: target), target,
                scheduler.makeQueue("concurrent \(number)", .concurrent), outer,
            ]
            outer.async(in: all) {
                let inner = WorkGroup("inner \(number)")
                for queue in queues { for _ in 0..<3 { queue.async(in: inner) { ran.add() } } }
                #expect(throws: Never.self) { try inner.blockUntilFinished() }
            }
        }
        await all.waitUntilFinished()
        #expect(ran.value == Self.items * 12)
    }

    @Test("a thread that waits for a group runs also what comes to the group during the wait")
    func growingGroup() async throws {
        let scheduler = try await Self.endedScheduler()
        let (all, ran) = (WorkGroup(), Tally())
        let outer = scheduler.globalQueue(for: .default)
        for number in 0..<Self.items {
            let queue = scheduler.makeQueue("queue \(number)")
            outer.async(in: all) {
                let inner = WorkGroup("inner \(number)")
                queue.async(in: inner) {
                    ran.add()
                    scheduler.makeQueue("later \(number)").async(in: inner) { ran.add() }
                }
                #expect(throws: Never.self) { try inner.blockUntilFinished() }
            }
        }
        await all.waitUntilFinished()
        #expect(ran.value == Self.items * 2)
    }

    @Test("threads that sleep for a group when the scheduler ends run its items themselves from then on")
    func sleepersForGroups() async throws {
        let other = try QoSScheduler(configuration: .init(processors: 2, appliesKernelEffects: false))
        let scheduler = try QoSScheduler(
            configuration: .init(processors: 1, appliesKernelEffects: false, detectsBlocking: false))
        let (held, goOn, ran) = (Gate(), Gate(), Tally())
        scheduler.globalQueue(for: .default).async {
            held.open()
            goOn.blockThread()
        }
        await held.passed()
        let end = Task(executorPreference: other.executor(for: .default)) {
            while scheduler.core.sleepers.count < ProcessInfo.processInfo.activeProcessorCount { await Task.yield() }
            try await scheduler.shutdown(within: .zero)
        }
        await withTaskGroup(of: Void.self) { tasks in
            for number in 0..<Self.items {
                let queue = scheduler.makeQueue("queue \(number)", level: .default)
                tasks.addTask {
                    let group = WorkGroup()
                    for _ in 0..<2 { queue.async(in: group) { ran.add() } }
                    #expect(throws: Never.self) { try blockUntilFinished(group) }
                }
            }
        }
        #expect(ran.value == Self.items * 2)
        goOn.open()
        try await end.value
        #expect(scheduler.core.sleepers.count == 0)
        try await other.shutdown()
    }

    @Test("a thread that waits for a group listens to the end of each scheduler with an item in it, also a later one")
    func laterScheduler() async throws {
        try await withScheduler { first in
            try await withScheduler { second in
                let (group, goOn) = (WorkGroup(), Gate())
                first.globalQueue(for: .utility).async(in: group) { goOn.blockThread() }
                let thread = try RunningThread(name: "waits") { try? group.blockUntilFinished() }
                while first.core.sleepers.count == 0 { await Task.yield() }
                second.globalQueue(for: .utility).async(in: group) { goOn.blockThread() }
                #expect(second.core.sleepers.count == 1)
                goOn.open()
                try thread.join()
                #expect(first.core.sleepers.count == 0 && second.core.sleepers.count == 0)
            }
        }
    }
}

/// Blocks the calling thread, also that of a task.
private func blockUntilFinished(_ group: WorkGroup) throws { try group.blockUntilFinished() }

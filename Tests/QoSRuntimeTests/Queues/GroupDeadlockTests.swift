import QoSCore
import QoSRuntime
import QoSRuntimeTestSupport
import Testing

@Suite("Waits for groups that could never end", .timeLimit(.minutes(5)))
struct GroupDeadlockTests {
    /// Runs a wait that must be refused.
    ///
    /// - Returns: the waits that the error names; empty if it is another one, or none.
    private func refused(_ wait: () throws -> Void) -> [String] {
        do {
            try wait()
        } catch WorkQueueError.deadlock(let waits) {
            return waits
        } catch {}
        return []
    }

    @Test("I5 B14 an item that waits for its own group is told so")
    func own() async throws {
        try await withScheduler { scheduler in
            let (group, seen) = (WorkGroup("files"), Collected<[String]>())
            scheduler.makeQueue("queue").async(in: group) { seen.append(refused { try group.blockUntilFinished() }) }
            await group.waitUntilFinished()
            #expect(seen.all.count == 1)
            #expect(seen.all.first?.count == 1)
            #expect(seen.all.first?.first?.contains("waits for group 'files', held up by ") == true)
        }
    }

    @Test("I5 B14 an item that waits for a group that stands behind it on its serial queue is told so")
    func behind() async throws {
        try await withScheduler { scheduler in
            let queue = scheduler.makeQueue("queue")
            let target = try scheduler.makeQueue("above", target: queue)
            for submitting in [queue, target] {
                let (group, ended, seen) = (WorkGroup(), Gate(), Collected<[String]>())
                queue.async {
                    submitting.async(in: group) {}
                    seen.append(refused { try group.blockUntilFinished() })
                    ended.open()
                }
                await ended.passed()
                await group.waitUntilFinished()
                #expect(seen.all.first?.count == 1, "\(submitting.label)")
            }
        }
    }

    @Test("I5 B14 over a group and a queue, whichever wait comes last: one is told all names, the other goes on")
    func circle() async throws {
        try await withScheduler { scheduler in
            for _ in 0..<20 {
                let (a, b, group) = (scheduler.makeQueue("a"), scheduler.makeQueue("b"), WorkGroup("files"))
                let (begun, entered) = (Gate(), Gate())
                let (refusals, passed) = (Collected<[String]>(), Tally())
                @Sendable func attempt(_ wait: () throws -> Void) {
                    let refusal = refused {
                        try wait()
                        passed.add()
                    }
                    if !refusal.isEmpty { refusals.append(refusal) }
                }
                b.async(in: group) {
                    begun.open()
                    entered.blockThread()
                    attempt { try a.sync {} }
                }
                await begun.passed()
                let thread = try RunningThread(name: "waits-for-files") {
                    try? a.sync {
                        entered.open()
                        attempt { try group.blockUntilFinished() }
                    }
                }
                try thread.join()
                await group.waitUntilFinished()
                #expect(refusals.all.count == 1 && passed.value == 1)
                let refusal = refusals.all.first ?? []
                #expect(refusal.count == 2)
                #expect(refusal.contains { $0.contains("'waits-for-files'") && $0.contains("group 'files'") })
                #expect(refusal.contains { $0.contains("queue 'a'") })
            }
        }
    }

    @Test(
        "I5 B14 what entered by hand is not known: the wait lasts until it leaves; nor is a wait with a deadline refused"
    )
    func byHand() async throws {
        try await withScheduler { scheduler in
            let (queue, group, passed) = (scheduler.makeQueue("queue"), WorkGroup(), Tally())
            group.enter()
            let thread = try RunningThread(name: "waits") {
                #expect(throws: Never.self) { try group.blockUntilFinished() }
                passed.add()
            }
            #expect(passed.value == 0)
            try group.leave()
            try thread.join()
            queue.async(in: group) { #expect(!group.blockUntilFinished(within: .milliseconds(1))) }
            await group.waitUntilFinished()
            #expect(passed.value == 1)
        }
    }

    @Test("B14 I5 a group that many items enter and leave is never refused to who is none of them")
    func noFalseReports() async throws {
        try await withScheduler { scheduler in
            let (group, ran) = (WorkGroup(), Tally())
            let queues = (0..<4).map { scheduler.makeQueue("q\($0)", $0 % 2 == 0 ? .serial : .concurrent) }
            let threads = try (0..<3).map { number in
                try RunningThread(name: "submits-\(number)") {
                    for round in 0..<100 {
                        queues[(number + round) % 4].async(in: group) {
                            ran.add()
                            try? queues[(round + 1) % 4].sync {}
                        }
                        if round % 10 == 0 { #expect(throws: Never.self) { try group.blockUntilFinished() } }
                    }
                }
            }
            for thread in threads { try thread.join() }
            await group.waitUntilFinished()
            #expect(ran.value == 300)
        }
    }
}

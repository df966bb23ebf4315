import Testing

@testable import QoSRuntime

@Suite("The task that a worker runs, as others see it")
struct RunningTaskTests {
    @Test("the worker waits for the end of the last of several looks")
    func severalLooks() async {
        let task = Task {}
        let node = ConcurrencyRuntime.node(of: task)
        let running = RunningTask()
        running.publish(node.job)
        var (seen, duringFirst): ([JobNode], Bool) = ([], false)
        running.inspect { first in
            seen.append(JobNode(first))
            running.inspect { second in seen.append(JobNode(second)) }
            duringFirst = running.isInspected
        }
        let afterwards = running.isInspected
        running.retract()
        let isEmpty = running.isEmpty
        running.inspect { third in seen.append(JobNode(third)) }
        #expect(seen == [node, node])
        #expect(duringFirst)
        #expect(!afterwards)
        #expect(isEmpty)
        await task.value
    }
}

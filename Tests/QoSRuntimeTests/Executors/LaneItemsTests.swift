import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The waiting items of a lane")
struct LaneItemsTests {
    /// A real job of a class that reports a name.
    private func node(_ name: String, _ qosClass: QoSClass, _ report: Collected<String>) -> JobNode {
        let node = JobNode(Jobs.make(qosClass) { report.append(name) })
        node.prepare(.job(executor: 0))
        return node
    }

    private func list(_ nodes: JobNode...) -> NodeList {
        var list = NodeList()
        for node in nodes { list.append(node) }
        return list
    }

    @Test("I3 come out by class, and within a class in the order of arrival")
    func order() {
        let report = Collected<String>()
        var items = LaneItems()
        #expect(items.highestRank == nil)
        #expect(items.popHighest() == nil)
        items.append(
            contentsOf: list(
                node("bg1", .background, report), node("in1", .userInitiated, report), node("bg2", .background, report))
        )
        #expect(items.highestRank == QoSClass.userInitiated.rank)
        items.append(contentsOf: list(node("in2", .userInitiated, report), node("ui1", .userInteractive, report)))
        #expect(items.highestRank == QoSClass.userInteractive.rank)
        while let node = items.popHighest() { Jobs.run(node.job) }
        #expect(report.all == ["ui1", "in1", "in2", "bg1", "bg2"])
        #expect(items.highestRank == nil)
    }

    @Test("can be filled again after the highest class ran empty", arguments: QoSClass.allCases)
    func refill(_ qosClass: QoSClass) {
        let report = Collected<String>()
        var items = LaneItems()
        for round in 0..<3 {
            items.append(contentsOf: list(node("\(round)", qosClass, report)))
            #expect(items.highestRank == qosClass.rank)
            if let node = items.popHighest() { Jobs.run(node.job) }
            #expect(items.highestRank == nil)
        }
        #expect(report.all == ["0", "1", "2"])
    }

    @Test("I4 a look with a limit goes on where the last one ended, and moves a raised task up", .needsKnownLayout)
    func looks() {
        let held = (0..<5).map { _ in HeldJob() }
        let tasks = held.map { Task.detached(executorPreference: $0, priority: .background) {} }
        var items = LaneItems()
        for job in held.compactMap(\.job) {
            let node = JobNode(job)
            node.prepare(.job(executor: 0))
            items.append(contentsOf: list(node))
        }
        tasks[3].escalatePriority(to: .userInitiated)
        let first = items.raiseEscalated(limit: 2)
        #expect(first == nil)
        let raised = items.raiseEscalated(limit: 2)
        #expect(raised?.from == QoSClass.background.rank)
        #expect(raised?.to == QoSClass.userInitiated.rank)
        var popped = [items.popHighest(), items.popHighest()]
        // The first leaves. The next look begins at the last one all the same.
        tasks[4].escalatePriority(to: .userInitiated)
        let last = items.raiseEscalated(limit: 1)
        #expect(last?.to == QoSClass.userInitiated.rank)
        popped.append(items.popHighest())
        #expect(popped == [3, 0, 4].map { held[$0].job.map { JobNode($0) } })
        for job in held { job.run() }
    }
}

import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("A worker's own queue")
struct LocalQueueTests {
    private let nodes = MadeNodes(count: 256)

    private func popAll(_ queue: inout LocalQueue) -> [Int] {
        var numbers: [Int] = []
        while let node = queue.pop() { numbers.append(nodes.number(of: node)) }
        return numbers
    }

    @Test("runs what was made runnable last before the rest, and what that displaced at the end")
    func slotFirst() {
        var queue = LocalQueue()
        queue.pushLast(nodes[0])
        queue.pushNext(nodes[1])
        queue.pushNext(nodes[2])
        #expect(queue.count == 3)
        #expect(popAll(&queue) == [2, 0, 1])
        #expect(queue.count == 0)
    }

    @Test("two tasks that wake one another do not starve the rest: the slot gives way after three jobs")
    func slotGivesWay() {
        var queue = LocalQueue()
        queue.pushLast(contentsOf: nodes.list(100..<103))
        var ran: [Int] = []
        queue.pushNext(nodes[0])
        for turn in 1...12 {
            guard let node = queue.pop() else { break }
            ran.append(nodes.number(of: node))
            // Each of the two makes the other runnable; a third one only runs.
            if nodes.number(of: node) < 2 { queue.pushNext(nodes[turn % 2]) }
        }
        #expect(ran.prefix(4) == [0, 1, 0, 100], "\(ran)")
        #expect(Set(ran).isSuperset(of: 100..<103), "\(ran)")
    }

    @Test("the slot alone runs for as long as it likes")
    func slotAlone() {
        var queue = LocalQueue()
        for number in 0..<10 {
            queue.pushNext(nodes[number])
            #expect(queue.pop() == nodes[number])
        }
    }

    @Test(
        "a thief gets the older half, rounded up, and 64 at most",
        arguments: [(0, 0), (1, 1), (2, 1), (3, 2), (10, 5), (127, 64), (128, 64), (200, 64)])
    func steal(_ queued: Int, _ taken: Int) {
        var queue = LocalQueue()
        queue.pushLast(contentsOf: nodes.list(0..<queued))
        let stolen = queue.steal(includingSlot: false)
        #expect(nodes.numbers(in: stolen) == Array(0..<taken))
        #expect(queue.count == queued - taken)
        #expect(popAll(&queue) == Array(taken..<queued))
    }

    @Test("a thief leaves the slot alone, unless it may take it and there is nothing else")
    func stealSlot() {
        var queue = LocalQueue()
        queue.pushNext(nodes[0])
        #expect(queue.steal(includingSlot: false).isEmpty)
        queue.pushLast(nodes[1])
        #expect(nodes.numbers(in: queue.steal(includingSlot: true)) == [1])
        #expect(nodes.numbers(in: queue.steal(includingSlot: true)) == [0])
        #expect(queue.count == 0)
        #expect(queue.pop() == nil)
    }

    @Test("gives everything away at the end, in the order in which it would have run")
    func takeAll() {
        var queue = LocalQueue()
        queue.pushLast(contentsOf: nodes.list(0..<3))
        queue.pushNext(nodes[7])
        #expect(nodes.numbers(in: queue.takeAll()) == [7, 0, 1, 2])
        #expect(queue.count == 0)
        #expect(queue.pop() == nil)
    }

    @Test("what was made runnable goes before a few, and behind many")
    func overtaking() {
        var queue = LocalQueue()
        queue.pushLast(contentsOf: nodes.list(0..<LocalQueue.maximumOvertaken))
        queue.pushNext(nodes[20])
        #expect(queue.pop() == nodes[20])
        queue.pushLast(nodes[21])
        queue.pushNext(nodes[22])
        #expect(popAll(&queue) == Array(0..<LocalQueue.maximumOvertaken) + [21, 22])
    }

    @Test("gives out what belongs elsewhere, a few at a time, and goes on where the last look ended")
    func extract() {
        var queue = LocalQueue()
        queue.pushNext(nodes[11])
        queue.pushLast(contentsOf: nodes.list(0..<10))
        let isOdd = { (node: JobNode) in nodes.number(of: node) % 2 == 1 }
        #expect(nodes.numbers(in: queue.extract(limit: 4, where: isOdd)) == [11, 1, 3])
        #expect(nodes.numbers(in: queue.extract(limit: 4, where: isOdd)) == [5, 7])
        // What it would look at next leaves the queue: it begins anew.
        #expect(popAll(&queue) == [0, 2, 4, 6, 8, 9])
        queue.pushLast(contentsOf: nodes.list(20..<24))
        #expect(nodes.numbers(in: queue.extract(limit: 10, where: isOdd)) == [21, 23])
        #expect(nodes.numbers(in: queue.extract(limit: 10, where: { _ in true })) == [20, 22])
        #expect(queue.count == 0)
    }

    @Test("loses and doubles nothing in 20,000 random pushes, pops and thefts", arguments: [1, 2, 3] as [UInt64])
    func random(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = LocalQueue()
        var free = Set(0..<256)
        var inside: Set<Int> = []
        func take(_ node: JobNode) {
            let number = nodes.number(of: node)
            #expect(inside.remove(number) != nil, "seed \(seed): \(number) came out and was not in")
            free.insert(number)
        }
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                guard let number = free.popFirst() else { continue }
                inside.insert(number)
                if Bool.random(using: &random) { queue.pushNext(nodes[number]) } else { queue.pushLast(nodes[number]) }
            case 2:
                let batch = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in free.popFirst() }
                inside.formUnion(batch)
                queue.pushLast(contentsOf: nodes.list(batch))
            case 3:
                var stolen = queue.steal(includingSlot: Bool.random(using: &random))
                while let node = stolen.popFirst() { take(node) }
            case 4:
                let divisor = Int.random(in: 1...9, using: &random)
                var extracted = queue.extract(limit: Int.random(in: 0...5, using: &random)) {
                    nodes.number(of: $0) % divisor == 0
                }
                while let node = extracted.popFirst() { take(node) }
            default:
                if let node = queue.pop() { take(node) }
            }
            #expect(queue.count == inside.count, "seed \(seed)")
        }
        #expect(Set(popAll(&queue)) == inside, "seed \(seed)")
    }
}

import QoSKernel
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

@Suite("The injection queue")
struct InjectionQueueTests {
    /// The queue for closures: a noncopyable value cannot be captured.
    private final class Shared: Sendable {
        let queue = InjectionQueue()
    }

    @Test("gives everything at once, the oldest first")
    func order() {
        let nodes = MadeNodes(count: 4)
        let queue = InjectionQueue()
        let isEmptyAtFirst = queue.isEmpty
        #expect(isEmptyAtFirst)
        let nothing = queue.takeAll()
        #expect(nothing.isEmpty)
        for number in 0..<4 {
            nodes[number].prepare(.job(executor: number))
            queue.push(nodes[number])
        }
        let isEmptyWhenFull = queue.isEmpty
        #expect(!isEmptyWhenFull)
        let taken = queue.takeAll()
        #expect(nodes.numbers(in: taken) == [0, 1, 2, 3])
        #expect(nodes.numbersBackwards(in: taken) == [3, 2, 1, 0])
        #expect((0..<4).allSatisfy { nodes[$0].tag.executor == $0 })
        let isEmptyAtLast = queue.isEmpty
        #expect(isEmptyAtLast)
    }

    @Test("loses and doubles nothing between four producers and two consumers, and keeps each producer's order")
    func producersAndConsumers() throws {
        let perProducer = 20_000
        let nodes = SharedNodes(count: 4 * perProducer)
        let shared = Shared()
        let consumed = Collected<[Int]>()
        let threads = try (0..<4).map { producer in
            try RunningThread(name: "producer-\(producer)") {
                for number in 0..<perProducer {
                    let node = nodes.made[producer * perProducer + number]
                    node.prepare(.job(executor: 0))
                    shared.queue.push(node)
                }
            }
        }
        let over = Gate()
        let consumers = try (0..<2).map { consumer in
            try RunningThread(name: "consumer-\(consumer)") {
                while true {
                    let isLast = over.isOpen
                    var list = shared.queue.takeAll()
                    var numbers: [Int] = []
                    while let node = list.popFirst() { numbers.append(nodes.made.number(of: node)) }
                    if !numbers.isEmpty { consumed.append(numbers) }
                    if isLast { return }
                }
            }
        }
        for thread in threads { try thread.join() }
        over.open()
        for consumer in consumers { try consumer.join() }
        let batches = consumed.all
        #expect(batches.flatMap { $0 }.sorted() == Array(0..<4 * perProducer))
        for batch in batches {
            for producer in 0..<4 {
                let own = batch.filter { $0 / perProducer == producer }
                #expect(own == own.sorted())
            }
        }
    }

    /// Nodes that several threads use.
    // SAFETY: the table never changes; each node belongs to whoever pushed or took it.
    private final class SharedNodes: @unchecked Sendable {
        let made: MadeNodes
        init(count: Int) { made = MadeNodes(count: count) }
    }
}

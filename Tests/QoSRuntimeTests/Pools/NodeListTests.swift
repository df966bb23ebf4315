import QoSTesting
import Testing

@testable import QoSRuntime

@Suite("A list of nodes")
struct NodeListTests {
    private let nodes = MadeNodes(count: 8)

    private func expect(_ list: NodeList, is numbers: [Int], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(list.count == numbers.count, sourceLocation: sourceLocation)
        #expect(list.isEmpty == numbers.isEmpty, sourceLocation: sourceLocation)
        #expect(nodes.numbers(in: list) == numbers, sourceLocation: sourceLocation)
        #expect(nodes.numbersBackwards(in: list) == numbers.reversed(), sourceLocation: sourceLocation)
    }

    @Test("is first in, first out")
    func order() {
        var list = nodes.list(0..<3)
        expect(list, is: [0, 1, 2])
        #expect(
            [list.popFirst(), list.popFirst(), list.popFirst(), list.popFirst()] == [
                nodes[0], nodes[1], nodes[2], nil,
            ])
        expect(list, is: [])
        list.append(nodes[4])
        expect(list, is: [4])
    }

    @Test("gives up a node anywhere", arguments: [[0], [1], [2], [3], [0, 3], [3, 2, 1, 0], [1, 2]])
    func remove(_ removed: [Int]) {
        var list = nodes.list(0..<4)
        for number in removed { list.remove(nodes[number]) }
        expect(list, is: (0..<4).filter { !removed.contains($0) })
        list.append(nodes[7])
        expect(list, is: (0..<4).filter { !removed.contains($0) } + [7])
    }

    @Test("takes another list whole", arguments: [([], []), ([0], []), ([], [1]), ([0, 1], [2]), ([3], [2, 1, 0])])
    func concatenation(_ first: [Int], _ second: [Int]) {
        var list = nodes.list(first)
        list.append(contentsOf: nodes.list(second))
        expect(list, is: first + second)
        list.append(nodes[7])
        expect(list, is: first + second + [7])
    }

    @Test("splits off its first nodes", arguments: 0...4, [-1, 0, 1, 2, 3, 4, 5])
    func takeFirst(_ count: Int, _ limit: Int) {
        var list = nodes.list(0..<count)
        let taken = list.takeFirst(limit)
        let split = min(max(limit, 0), count)
        expect(taken, is: Array(0..<split))
        expect(list, is: Array(split..<count))
    }

    @Test("behaves as an array does, through 5,000 random changes", arguments: [1, 2, 3] as [UInt64])
    func random(_ seed: UInt64) {
        let nodes = MadeNodes(count: 32)
        var random = SeededGenerator(seed: seed)
        var lists = [NodeList(), NodeList()]
        var arrays: [[Int]] = [[], []]
        var free = Array(0..<32)
        for _ in 0..<5_000 {
            let chosen = Int.random(in: 0...1, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                guard let number = free.popLast() else { continue }
                lists[chosen].append(nodes[number])
                arrays[chosen].append(number)
            case 2:
                guard let number = arrays[chosen].randomElement(using: &random) else { continue }
                lists[chosen].remove(nodes[number])
                arrays[chosen].removeAll { $0 == number }
                free.append(number)
            case 3:
                let limit = Int.random(in: 0...6, using: &random)
                lists[1 - chosen].append(contentsOf: lists[chosen].takeFirst(limit))
                arrays[1 - chosen] += arrays[chosen].prefix(limit)
                arrays[chosen].removeFirst(min(limit, arrays[chosen].count))
            default:
                let popped = lists[chosen].popFirst().map(nodes.number)
                let expected = arrays[chosen].isEmpty ? nil : arrays[chosen].removeFirst()
                #expect(popped == expected, "seed \(seed)")
                if let popped { free.append(popped) }
            }
            for index in 0...1 {
                #expect(nodes.numbers(in: lists[index]) == arrays[index], "seed \(seed)")
                #expect(nodes.numbersBackwards(in: lists[index]) == arrays[index].reversed(), "seed \(seed)")
            }
        }
    }
}

@testable import QoSRuntime

/// Nodes of blocks of memory of our own, laid out as ``JobNode`` says: two words that are anybody's, then the links.
@safe
final class MadeNodes {
    private static let wordsPerNode = 4

    private let memory: UnsafeMutablePointer<UInt>
    private let count: Int

    init(count: Int) {
        self.count = count
        unsafe memory = .allocate(capacity: count * Self.wordsPerNode)
        unsafe memory.initialize(repeating: 0, count: count * Self.wordsPerNode)
    }

    deinit {
        unsafe memory.deallocate()
    }

    /// The node of a number, 0 and up; the memory lives as long as this object.
    subscript(number: Int) -> JobNode {
        precondition((0..<count).contains(number))
        return unsafe JobNode(address: UInt(bitPattern: memory + number * Self.wordsPerNode))
    }

    /// The number of a node.
    func number(of node: JobNode) -> Int {
        unsafe Int(node.address - UInt(bitPattern: memory)) / (Self.wordsPerNode * MemoryLayout<UInt>.size)
    }

    /// A list of the nodes of these numbers, in this order.
    func list(_ numbers: some Sequence<Int>) -> NodeList {
        var list = NodeList()
        for number in numbers { list.append(self[number]) }
        return list
    }

    /// The numbers in a list, read forwards.
    func numbers(in list: NodeList) -> [Int] {
        walk(from: list.head) { $0.next }
    }

    /// The numbers in a list, read backwards.
    func numbersBackwards(in list: NodeList) -> [Int] {
        walk(from: list.tail) { $0.previous }
    }

    private func walk(from first: JobNode?, step: (JobNode) -> JobNode?) -> [Int] {
        var numbers: [Int] = []
        var node = first
        // A circle shows as too many numbers instead of a test that never ends.
        while let current = node, numbers.count <= count {
            numbers.append(number(of: current))
            node = step(current)
        }
        return numbers
    }
}

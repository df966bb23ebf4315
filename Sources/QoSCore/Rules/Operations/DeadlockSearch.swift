/// A search for operations of a graph that wait for one another in a circle. The waits are dependencies, waits in
/// bodies, barriers, and queues whose places are all taken by operations that wait.
///
/// A queue's segments are nodes of their own. An operation behind a barrier waits for a segment. A segment waits for
/// its members, and those for the segment before. So a queue of n operations costs n, and not n². Places work the same
/// way: an operation that has not started waits for a place, and the place waits for any of the running ones.
///
/// An operation that has not started may also end without running: a dependency or a condition of it fails. Dependencies
/// and barriers are judged as if that did not happen, because they are refused when they are made. A wait is refused
/// only if it cannot end in any way (``Judgement``).
///
/// - Complexity: O(n) for n operations that the starting points wait for, directly and through others. Each queue with
///   barriers on the way counts as a whole.
struct DeadlockSearch {
    private enum Node: Hashable {
        case operation(UInt32)
        case segment(queue: UInt32, number: UInt64)
        /// A free place in a queue.
        case place(queue: UInt32)
    }

    /// The way in which a search judges operations that have not started.
    enum Judgement {
        /// Everything succeeds. Waits that may end in another way are left out: they are sure to end.
        case ofOrder
        /// Everything succeeds.
        case ofWaitIfAllSucceeds
        /// Dependencies and conditions may fail, and end what has not started.
        case ofWait
    }

    private typealias Search = DeadlockedSet<Node, OperationWaitReason>
    private typealias Links = [(awaited: Node, cause: OperationWaitReason)]

    private let graph: OperationGraph
    private let judgement: Judgement
    /// The planned places of operations that are in no queue yet.
    private var placed: [UInt32: (queue: UInt32, segment: UInt64)] = [:]
    /// The members of the segments of queues.
    private var contents: [UInt32: [UInt64: [UInt32]]] = [:]

    init(_ graph: OperationGraph, _ judgement: Judgement = .ofOrder) {
        self.graph = graph
        self.judgement = judgement
    }

    /// Places an operation as if it had been added.
    mutating func place(_ operation: UInt32, in queue: UInt32, segment: UInt64) {
        placed[operation] = (queue, segment)
        fill(queue)
        contents[queue]?[segment, default: []].append(operation)
    }

    /// Returns the circle that an operation would close by a dependency; `nil` without one.
    mutating func deadlock(closedBy child: UInt32, dependingOn parent: UInt32) -> [GraphWait]? {
        deadlock(closedBy: child, waitingFor: [(.operation(parent), .dependency)])
    }

    /// Returns the circle that an operation closes by one of its links for these reasons; `nil` without one.
    mutating func deadlock(closedBy operation: UInt32, along reasons: [OperationWaitReason]) -> [GraphWait]? {
        deadlock(closedBy: operation, waitingFor: links(ofOperation: operation).filter { reasons.contains($0.cause) })
    }

    /// Returns the circle that keeps an operation's wait for a target from ending; `nil` without one.
    mutating func deadlock(of waiter: UInt32, waitingFor target: OperationWaits.Target) -> [GraphWait]? {
        deadlock(closedBy: waiter, waitingFor: [(node(of: target), .wait)])
    }

    /// Returns a circle through one of these; `nil` without one. A circle that they only wait for is none of theirs.
    mutating func deadlock(through operations: [UInt32]) -> [GraphWait]? {
        let nodes = operations.map(Node.operation)
        let standstill = Search(from: nodes) { wait(of: $0) }
        guard case .operation(let first)? = standstill.firstOnCircle(of: nodes) else { return nil }
        return Self.circle(from: first, standstill)
    }

    private mutating func deadlock(closedBy operation: UInt32, waitingFor links: Links) -> [GraphWait]? {
        let start = Node.operation(operation)
        let standstill = Search(from: CollectionOfOne(start)) { $0 == start ? .all(links) : wait(of: $0) }
        return standstill.includes(start) ? Self.circle(from: operation, standstill) : nil
    }

    /// Returns a circle through an operation, or through one that it waits for, without the segments and places.
    private static func circle(from operation: UInt32, _ standstill: Search) -> [GraphWait] {
        var circle = standstill.circle(through: .operation(operation))
        if circle.isEmpty {
            let way = standstill.way(from: .operation(operation))
            circle = Array(way.drop { $0.waiter != way.last?.awaited })
        }
        let waits = circle.compactMap { link -> (UInt32, OperationWaitReason)? in
            if case .operation(let waiter) = link.waiter { (waiter, link.cause) } else { nil }
        }
        return waits.indices.map { index in
            let next = waits[(index + 1) % waits.count].0
            return GraphWait(
                waiter: OperationID(index: waits[index].0), awaited: OperationID(index: next), cause: waits[index].1)
        }
    }

    // MARK: Who waits for whom

    private mutating func wait(of node: Node) -> Search.Wait {
        switch node {
        case .operation(let operation): wait(ofOperation: operation)
        case .segment(let queue, let number): .all(links(ofSegment: number, queue))
        case .place(let queue): waitForPlace(in: queue)
        }
    }

    private mutating func wait(ofOperation operation: UInt32) -> Search.Wait {
        let record = graph.operations[Int(operation)]
        guard judgement == .ofWait, record.state != .running else { return .all(links(ofOperation: operation)) }
        if record.state == .evaluating { return .all(linksOfWaits(operation)) }
        // A dependency has failed already. The operation ends when it is added.
        if record.isDoomed { return .all([]) }
        let parents = linksOfParents(record)
        guard !parents.isEmpty else { return .all(links(ofOperation: operation)) }
        // It ends with the first dependency that fails.
        if record.policy == .cancel { return .any(1, of: parents) }
        return record.hasConditions ? .all(parents) : .all(links(ofOperation: operation))
    }

    private mutating func links(ofOperation operation: UInt32) -> Links {
        let record = graph.operations[Int(operation)]
        guard record.state != .finished else { return [] }
        var links = linksOfParents(record) + linksOfWaits(operation)
        if record.state != .running { links += linksOfPlace(operation, record) }
        return links
    }

    private func linksOfParents(_ record: OperationRecord) -> Links {
        var links: Links = []
        var edge = record.firstParent
        while edge != DependencyEdges.none {
            links.append((.operation(graph.edges[edge].parent), .dependency))
            edge = graph.edges[edge].nextOfChild
        }
        return links
    }

    private mutating func linksOfWaits(_ operation: UInt32) -> Links {
        let targets = graph.waits.targets(of: operation, countingHopeful: judgement != .ofOrder)
        return targets.map { (node(of: $0), .wait) }
    }

    private mutating func node(of target: OperationWaits.Target) -> Node {
        switch target {
        case .operation(let awaited): return .operation(awaited)
        case .queue(let queue):
            fill(queue)
            return .segment(queue: queue, number: contents[queue]?.keys.max() ?? 0)
        }
    }

    /// Returns the waits of an operation that has not started, because of its place.
    private func linksOfPlace(_ operation: UInt32, _ record: OperationRecord) -> Links {
        let known = record.queue == OperationRecord.noQueue ? placed[operation] : (record.queue, record.segment)
        guard let (queue, segment) = known else { return [] }
        var links: Links = []
        if graph.waits.waiters(in: queue).count >= graph.queues[Int(queue)].limit {
            links.append((.place(queue: queue), .limit))
        }
        if segment > graph.queues[Int(queue)].firstSegment {
            links.append((.segment(queue: queue, number: segment - 1), .barrier))
        }
        return links
    }

    /// Returns the wait for a place. Running operations that do not wait end in time. A place is free when enough of
    /// the others have ended.
    private func waitForPlace(in queue: UInt32) -> Search.Wait {
        let waiting = graph.waits.waiters(in: queue).sorted()
        let missing = waiting.count - graph.queues[Int(queue)].limit + 1
        return .any(max(missing, 0), of: waiting.map { (.operation($0), .limit) })
    }

    /// Returns the waits of a segment. Its members wait for the segment before by themselves. An empty segment waits in
    /// their place.
    private mutating func links(ofSegment number: UInt64, _ queue: UInt32) -> Links {
        fill(queue)
        let members = contents[queue]?[number] ?? []
        if members.isEmpty, number > graph.queues[Int(queue)].firstSegment {
            return [(.segment(queue: queue, number: number - 1), .barrier)]
        }
        return members.map { (.operation($0), .barrier) }
    }

    private mutating func fill(_ queue: UInt32) {
        guard contents[queue] == nil else { return }
        var segments: [UInt64: [UInt32]] = [:]
        for id in graph.unorderedMembers(of: OperationQueueID(index: queue)) {
            segments[graph.operations[Int(id.index)].segment, default: []].append(id.index)
        }
        contents[queue] = segments
    }
}

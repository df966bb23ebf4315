/// Looks for operations of a graph that wait for one another in a circle: by dependencies, by waits in their bodies, by
/// barriers, and by queues that run one at a time.
///
/// A queue's segments are nodes of their own here: what is behind a barrier waits for a segment, a segment for its members,
/// and those for the segment before. So a queue of n operations costs n, and not n².
///
/// Complexity: what the starting points wait for, directly and through others; each queue on the way as a whole.
struct DeadlockSearch {
    private enum Node: Hashable {
        case operation(UInt32)
        case segment(queue: UInt32, number: UInt32)
    }

    private struct Link {
        let node: Node
        let reason: OperationWaitReason
    }

    /// A node on the way, and what it waits for that has not been looked at.
    private struct Step {
        let node: Node
        var open: [Link]
        /// Why it waits for the next step.
        var reason = OperationWaitReason.dependency
    }

    /// What a queue has, in the form that the search needs.
    private struct Content {
        var segments: [UInt32: [UInt32]] = [:]
        var running: [UInt32] = []
    }

    private let graph: OperationGraph
    /// From here nothing leads into a circle.
    private var done: Set<Node> = []
    /// Where operations are going to be that are in no queue yet.
    private var placed: [UInt32: (queue: UInt32, segment: UInt32)] = [:]
    private var contents: [UInt32: Content] = [:]

    init(_ graph: OperationGraph) {
        self.graph = graph
    }

    /// Takes an operation for one that has been added.
    mutating func place(_ operation: UInt32, in queue: UInt32, segment: UInt32) {
        placed[operation] = (queue, segment)
        fill(queue)
        contents[queue]?.segments[segment, default: []].append(operation)
    }

    /// The circle that an operation would close by a dependency; `nil` without one.
    mutating func deadlock(closedBy child: UInt32, dependingOn parent: UInt32) -> [GraphWait]? {
        follow(Step(node: .operation(child), open: [Link(node: .operation(parent), reason: .dependency)]))
    }

    /// The circle that an operation closes by one of its links for these reasons; `nil` without one.
    mutating func deadlock(closedBy operation: UInt32, along reasons: [OperationWaitReason]) -> [GraphWait]? {
        let open = links(ofOperation: operation).filter { reasons.contains($0.reason) }
        return follow(Step(node: .operation(operation), open: open))
    }

    /// A circle that can be reached from one of these; `nil` without one.
    mutating func deadlock(reachedFrom starts: [UInt32]) -> [GraphWait]? {
        for start in starts where !done.contains(.operation(start)) {
            if let found = follow(Step(node: .operation(start), open: links(ofOperation: start))) { return found }
        }
        return nil
    }

    private mutating func follow(_ start: Step) -> [GraphWait]? {
        var onWay: Set<Node> = [start.node]
        var way = [start]
        while let last = way.indices.last {
            guard let link = way[last].open.popLast() else {
                done.insert(way[last].node)
                onWay.remove(way[last].node)
                way.removeLast()
                continue
            }
            way[last].reason = link.reason
            if onWay.contains(link.node) { return Self.circle(way, to: link.node) }
            guard !done.contains(link.node) else { continue }
            onWay.insert(link.node)
            way.append(Step(node: link.node, open: links(of: link.node)))
        }
        return nil
    }

    /// The end of the way, from the node that closes it, without the segments.
    private static func circle(_ way: [Step], to node: Node) -> [GraphWait] {
        let operations = way.drop { $0.node != node }.compactMap { step -> (UInt32, OperationWaitReason)? in
            if case .operation(let operation) = step.node { (operation, step.reason) } else { nil }
        }
        return operations.indices.map { index in
            let next = operations[(index + 1) % operations.count].0
            return GraphWait(
                waiter: OperationID(index: operations[index].0), awaited: OperationID(index: next),
                reason: operations[index].1)
        }
    }

    // MARK: Who waits for whom

    private mutating func links(of node: Node) -> [Link] {
        switch node {
        case .operation(let operation): links(ofOperation: operation)
        case .segment(let queue, let number): links(ofSegment: number, queue)
        }
    }

    private mutating func links(ofOperation operation: UInt32) -> [Link] {
        let record = graph.operations[Int(operation)]
        guard record.state != .finished else { return [] }
        var links = record.state == .running ? [] : linksOfPlace(operation, record)
        switch graph.waits[operation] {
        case .operation(let awaited): links.append(Link(node: .operation(awaited), reason: .wait))
        case .queue(let queue):
            fill(queue)
            let last = contents[queue]?.segments.keys.max() ?? 0
            links.append(Link(node: .segment(queue: queue, number: last), reason: .wait))
        case nil: break
        }
        var edge = record.firstParent
        while edge != DependencyEdges.none {
            links.append(Link(node: .operation(graph.edges[edge].parent), reason: .dependency))
            edge = graph.edges[edge].nextOfChild
        }
        return links
    }

    /// What an operation that has not started waits for because of where it stands.
    private mutating func linksOfPlace(_ operation: UInt32, _ record: OperationRecord) -> [Link] {
        let known = record.queue == OperationRecord.noQueue ? placed[operation] : (record.queue, record.segment)
        guard let (queue, segment) = known else { return [] }
        var links: [Link] = []
        if segment > graph.queues[Int(queue)].firstSegment {
            links.append(Link(node: .segment(queue: queue, number: segment - 1), reason: .barrier))
        }
        if graph.queues[Int(queue)].limit == 1 {
            fill(queue)
            for other in contents[queue]?.running ?? [] { links.append(Link(node: .operation(other), reason: .limit)) }
        }
        return links
    }

    /// The members of a segment wait for the segment before by themselves; an empty one stands for it.
    private mutating func links(ofSegment number: UInt32, _ queue: UInt32) -> [Link] {
        fill(queue)
        let members = contents[queue]?.segments[number] ?? []
        if members.isEmpty, number > graph.queues[Int(queue)].firstSegment {
            return [Link(node: .segment(queue: queue, number: number - 1), reason: .barrier)]
        }
        return members.map { Link(node: .operation($0), reason: .barrier) }
    }

    private mutating func fill(_ queue: UInt32) {
        guard contents[queue] == nil else { return }
        var content = Content()
        for id in graph.unorderedMembers(of: OperationQueueID(index: queue)) {
            let record = graph.operations[Int(id.index)]
            content.segments[record.segment, default: []].append(id.index)
            if record.state == .running { content.running.append(id.index) }
        }
        contents[queue] = content
    }
}

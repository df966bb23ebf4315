import QoSCore
import Testing

/// How a body's wait for a queue begins, in every interleaving with what closes the circle: the running operation has
/// the only place of its queue and waits for all of another one, where a member waits for an operation behind the
/// first.
@Suite("Waits that begin while their queue goes idle and gets more to do", .timeLimit(.minutes(5)))
struct WaitBeginningTests {
    /// Every step can come before or after every other that it does not need.
    private enum Step: CaseIterable, Hashable {
        /// The first operation's wait is told to the graph.
        case tellsGraph
        /// It sleeps, if the other queue is not idle; in one step with the last, or in one of its own.
        case sleeps
        case otherEnds, memberIsAdded, memberWaits, lastIsAdded
    }

    private struct World {
        var graph = OperationGraph()
        var effects = OperationEffects()
        let isOneStep: Bool
        let first, other, member, last: OperationID
        let own, awaited: OperationQueueID
        var done: Set<Step> = []
        var sleeps = false
        var hasGoneOn = false
        var isRefused = false

        init(isOneStep: Bool) throws {
            self.isOneStep = isOneStep
            (own, awaited) = (graph.queueCreated(limit: 1), graph.queueCreated())
            (first, other) = (graph.operationCreated(), graph.operationCreated())
            (member, last) = (graph.operationCreated(), graph.operationCreated())
            try graph.operationAdded(first, to: own, &effects)
            try graph.operationAdded(other, to: awaited, &effects)
        }

        var next: [Step] {
            Step.allCases.filter { step in
                switch step {
                case _ where done.contains(step): false
                case .sleeps: done.contains(.tellsGraph) && !hasGoneOn
                case .memberWaits: done.contains(.memberIsAdded)
                default: true
                }
            }
        }

        mutating func perform(_ step: Step) throws {
            done.insert(step)
            effects.removeAll()
            do throws(OperationGraphError) {
                switch step {
                case .tellsGraph:
                    if graph.unfinishedCount(of: awaited) == 0 { return goOn() }
                    try graph.waitBegan(by: first, for: awaited)
                    if isOneStep { sleeps = true }
                case .sleeps:
                    if graph.unfinishedCount(of: awaited) == 0 { return goOn() }
                    sleeps = true
                case .otherEnds: graph.operationFinished(other, .succeeded, &effects)
                case .memberIsAdded: try add(member, to: awaited)
                case .memberWaits: try graph.waitBegan(by: member, for: last)
                case .lastIsAdded: try add(last, to: own)
                }
            } catch {
                isRefused = true
            }
            for queue in effects.idle where graph.unfinishedCount(of: queue) == 0 {
                _ = graph.queueIdle(queue)
                if queue == awaited, sleeps { goOn() }
            }
        }

        private mutating func goOn() {
            (sleeps, hasGoneOn) = (false, true)
        }

        private mutating func add(_ id: OperationID, to queue: OperationQueueID) throws(OperationGraphError) {
            if let waits = graph.deadlock(adding: [id], to: queue) { throw .deadlock(waits) }
            try graph.operationAdded(id, to: queue, &effects)
        }

        /// All has happened, and none of the three can go on or has been told.
        var isStuck: Bool { next.isEmpty && sleeps && !isRefused && graph.isRunning(member) }
    }

    /// The orders of steps that end in a standstill of which nothing was told.
    private func standstills(_ world: World, after steps: [Step] = []) throws -> [[Step]] {
        if world.isRefused || world.hasGoneOn { return [] }
        if world.next.isEmpty { return world.isStuck ? [steps] : [] }
        return try world.next.flatMap { step in
            var next = world
            try next.perform(step)
            return try standstills(next, after: steps + [step])
        }
    }

    @Test(
        "O9 the circle over a place and a whole queue is refused in every interleaving, where a wait begins in one step"
    )
    func oneStep() throws {
        #expect(try standstills(World(isOneStep: true)).isEmpty)
    }

    @Test("a wait that begins in two steps can be lost between them")
    func twoSteps() throws {
        #expect(
            try standstills(World(isOneStep: false)).contains([
                .tellsGraph, .otherEnds, .memberIsAdded, .sleeps, .memberWaits, .lastIsAdded,
            ]))
    }
}

import Glibc
import QoSCore
import QoSOperations
import QoSRuntime
import QoSTesting

/// Makes random moves, one after the other; the same ones for the same seed.
struct Player: Sendable {
    let world: World
    var random: SeededGenerator
    /// The number of players above this one.
    let depth: Int

    init(_ world: World, seed: UInt64, depth: Int = 0) {
        (self.world, self.depth) = (world, depth)
        random = SeededGenerator(seed: seed)
    }

    /// Makes moves, in a task.
    mutating func play(_ count: Int) async {
        for _ in 0..<count {
            guard let move = world.moves.randomElement(using: &random) else { return }
            let token = world.ledger.begin(move)
            if move.isForThreads {
                makeOnThread(move, token)
            } else {
                await make(move, token)
            }
        }
    }

    /// Makes moves, on a thread that runs no task.
    mutating func playOnThread(_ count: Int) {
        let moves = world.moves.filter(\.isForThreads)
        for _ in 0..<count {
            guard let move = moves.randomElement(using: &random) else { return }
            makeOnThread(move, world.ledger.begin(move))
            usleep(UInt32(number(0...300)))
        }
    }

    private mutating func make(_ move: Move, _ token: Token) async {
        switch move {
        case .task: await startTask(token)
        case .group: await runGroup(token)
        case .continuation: await suspend(token)
        case .yield: await yield(token)
        case .sleep: await sleep(token)
        case .actor, .serialActor: await call(move, token)
        case .run: await run(token)
        case .workItem: await submitItem(token)
        case .workGroup: await submitGroup(token)
        case .asyncMutex: await lockAsynchronously(token)
        case .semaphore: await takePermit(token)
        case .blocking: await block(token)
        case .checkpoint: await compute(token)
        case .thread: await startThread(token)
        case .operation: await operate(token)
        default: preconditionFailure("\(move) is for threads as well")
        }
    }

    private mutating func makeOnThread(_ move: Move, _ token: Token) {
        switch move {
        case .item: submit(token, isBarrier: false)
        case .barrier: submit(token, isBarrier: true)
        case .sync: synchronize(token)
        case .nestedSync: synchronizeNested(token)
        case .delayed: submitLater(token)
        case .far: submitFar(token)
        case .timer: startTimer(token)
        case .suspend: suspendQueue(token)
        case .mutex: lock(token)
        case .nestedMutex: lockNested(token)
        case .hiddenBlocking:
            usleep(UInt32(number(100...2000)))
            token.finish()
        case .cancel:
            world.anyTask(&random)?.cancel()
            token.finish()
        case .raise: raise(token)
        case .width: limitWidth(token)
        default: preconditionFailure("\(move) is for tasks")
        }
    }

    // MARK: Choices

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Whether something that happens once in so many times does.
    mutating func once(in count: Int) -> Bool { number(1...count) == 1 }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }

    mutating func qosClass() -> QoSClass { pick(Array(QoSClass.allCases)) }

    mutating func level() -> QoSLevel? {
        if once(in: 3) { return nil }
        return once(in: 4) ? try? QoSLevel(qosClass(), relativePriority: -number(0...15)) : QoSLevel(qosClass())
    }

    /// Uses the processor for some microseconds.
    static func spin(_ microseconds: Int) {
        let end = ContinuousClock.now + .microseconds(microseconds)
        while ContinuousClock.now < end {}
    }
}

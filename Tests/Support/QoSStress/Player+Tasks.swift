import Glibc
import QoSCore
import QoSRuntime
import QoSTesting

extension Player {
    mutating func startTask(_ token: Token) async {
        let player = Player(world, seed: random.next(), depth: depth + 1)
        let moves = depth < 2 ? number(0...3) : 0
        let scheduler = pick(world.schedulers)
        let executor: any TaskExecutor =
            switch number(0...3) {
            case 0: scheduler.executor
            case 1: scheduler.executor(for: level() ?? .default)
            default: scheduler.executor(for: qosClass())
            }
        let priority = once(in: 2) ? TaskPriority(qosClass()) : nil
        let task = Task(executorPreference: executor, priority: priority) {
            var player = player
            await player.play(moves)
            token.finish()
        }
        world.remember(task)
        if once(in: 2) { await task.value }
    }

    mutating func runGroup(_ token: Token) async {
        let (children, yields) = (number(1...8), once(in: 2))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<children {
                group.addTask {
                    if yields { await Task.yield() }
                    Player.spin(5)
                }
            }
            if yields { group.cancelAll() }
        }
        token.finish()
    }

    mutating func suspend(_ token: Token) async {
        let (queue, way, time) = (pick(world.queues), number(0...2), number(0...500))
        let assistant = world.assistant
        await withCheckedContinuation { continuation in
            switch way {
            case 0: queue.async { continuation.resume() }
            case 1: assistant.after(time) { continuation.resume() }
            default: Task { continuation.resume() }
            }
        }
        token.finish()
    }

    mutating func yield(_ token: Token) async {
        for _ in 0..<number(1...10) {
            Player.spin(number(0...20))
            if once(in: 2) { await Task.yield() } else { await QoS.yieldIfNeeded() }
        }
        token.finish()
    }

    mutating func sleep(_ token: Token) async {
        let tolerance: Duration? = once(in: 2) ? .microseconds(number(0...500)) : nil
        try? await Task.sleep(for: .microseconds(number(0...2000)), tolerance: tolerance)
        token.finish()
    }

    mutating func call(_ move: Move, _ token: Token) async {
        let yields = once(in: 3)
        if move == .actor {
            await pick(world.actors).add(yields: yields)
        } else {
            await pick(world.serialActors).add(yields: yields)
        }
        token.finish()
    }

    mutating func block(_ token: Token) async {
        let time = UInt32(number(100...2000))
        if once(in: 2) {
            await QoS.withBlocking { @Sendable in _ = usleep(time) }
        } else {
            Self.blockHere(time)
        }
        token.finish()
    }

    private static func blockHere(_ time: UInt32) {
        QoS.withBlocking { _ = usleep(time) }
    }

    mutating func compute(_ token: Token) async {
        for _ in 0..<number(1...20) {
            Player.spin(20)
            Self.stop()
        }
        token.finish()
    }

    private static func stop() { QoS.checkpoint() }

    mutating func startThread(_ token: Token) async {
        let (mutex, time) = (pick(world.mutexes), number(0...50))
        let thread = QoSThread(name: "stress", level: level()) {
            mutex.mutex.withLock { count in
                count += 1
                Player.spin(time)
            }
        }
        do {
            try thread.start()
            try await thread.value
            token.finish()
        } catch {
            token.refuse()
        }
    }

    mutating func raise(_ token: Token) {
        if let task = world.anyTask(&random) { pick(world.schedulers).raise(task, to: qosClass()) }
        token.finish()
    }

    mutating func limitWidth(_ token: Token) {
        let (scheduler, qosClass) = (pick(world.schedulers), qosClass())
        scheduler.setWidthLimit(number(0...2), for: qosClass)
        world.assistant.after(number(0...3000)) {
            scheduler.setWidthLimit(nil, for: qosClass)
            token.finish()
        }
    }
}

import QoSCore
import QoSRuntime
import Synchronization

extension Player {
    mutating func submit(_ token: Token, isBarrier: Bool) {
        let (time, level) = (number(0...30), level())
        let stops = world.moves.contains(.checkpoint) && once(in: 3)
        let queue = pick(world.queues)
        let body: @Sendable () -> Void = {
            Player.spin(time)
            if stops { QoS.checkpoint() }
            token.finish()
        }
        if isBarrier { queue.asyncBarrier(level: level, body) } else { queue.async(level: level, body) }
    }

    mutating func synchronize(_ token: Token) {
        let (queue, time, level) = (pick(world.queues), number(0...20), level())
        Self.synchronize(queue, level, token) { Player.spin(time) }
    }

    mutating func synchronizeNested(_ token: Token) {
        let chosen = (0..<3).map { _ in pick(world.queues) }
        let time = number(0...20)
        chosen[0].async {
            Self.synchronize(chosen[1], nil, token) {
                Player.spin(time)
                // Refused where it would close a circle.
                do { try chosen[2].sync { Player.spin(time) } } catch {}
            }
        }
    }

    private static func synchronize(_ queue: WorkQueue, _ level: QoSLevel?, _ token: Token, _ body: () -> Void) {
        do {
            try queue.sync(level: level) { body() }
            token.finish()
        } catch {
            token.refuse()
        }
    }

    mutating func run(_ token: Token) async {
        let (queue, time, level) = (pick(world.queues), number(0...30), level())
        do {
            try await queue.run(level: level) { Player.spin(time) }
            token.finish()
        } catch {
            token.refuse()
        }
    }

    mutating func submitLater(_ token: Token) {
        let (delay, level) = (number(0...3000), level())
        pick(world.queues).async(after: .microseconds(delay), level: level) { token.finish() }
    }

    mutating func submitFar(_ token: Token) {
        let item = WorkItem { [token] in _ = token }
        do {
            try pick(world.queues).async(after: .seconds(3600), item)
            item.cancel()
            token.finish()
        } catch {
            token.refuse()
        }
    }

    mutating func submitItem(_ token: Token) async {
        let behavior = once(in: 4) ? pick(Array(ShutdownBehavior.allCases)) : nil
        let flags: WorkItemFlags = behavior.map { .onShutdown($0) } ?? []
        let notified = once(in: 3) ? world.ledger.begin(.workItem) : nil
        let (queue, other, time) = (pick(world.queues), pick(world.queues), number(0...30))
        let item = WorkItem(level: level(), flags: flags) { Player.spin(time) }
        if let notified { item.notify(on: other) { notified.finish() } }
        do {
            if once(in: 3) {
                try queue.async(after: .microseconds(number(0...1000)), item)
            } else {
                try queue.async(item)
            }
            if once(in: 3) { item.cancel() }
            await item.waitUntilFinished()
            token.finish()
        } catch {
            token.refuse()
        }
    }

    mutating func submitGroup(_ token: Token) async {
        let group = WorkGroup("stress")
        for _ in 0..<number(0...6) {
            let (time, level) = (number(0...20), level())
            pick(world.queues).async(in: group, level: level) { Player.spin(time) }
        }
        switch number(0...2) {
        case 0: group.notify(on: pick(world.queues)) { token.finish() }
        case 1:
            await group.waitUntilFinished()
            token.finish()
        default:
            // On a thread of its own: a thread of the default executor that waits is one less for what it waits for.
            let thread = QoSThread(name: "stress") { try group.blockUntilFinished() }
            do {
                try thread.start()
                try await thread.value
                token.finish()
            } catch {
                token.refuse()
            }
        }
    }

    mutating func startTimer(_ token: Token) {
        let (interval, level) = (number(50...2000), level())
        let fired = Counted()
        let timer = pick(world.queues).makeTimer(
            after: .microseconds(number(0...500)), repeating: once(in: 4) ? nil : .microseconds(interval), level: level
        ) { count in fired.add(count) }
        world.assistant.after(number(500...5000)) {
            timer.cancel()
            token.finish()
        }
    }

    mutating func suspendQueue(_ token: Token) {
        let queue = pick(world.queues)
        do {
            try queue.suspend()
        } catch {
            token.refuse()
            return
        }
        world.assistant.after(number(0...2000)) {
            do {
                try queue.resume()
                token.finish()
            } catch {
                // Each resumption has its suspension: the token's release tells of it.
            }
        }
    }
}

/// A number that a handler adds to.
private final class Counted: Sendable {
    private let value = Atomic(0)

    func add(_ count: Int) { value.add(count, ordering: .relaxed) }
}

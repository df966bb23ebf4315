import Glibc
import QoSOperations
import QoSRuntime
import QoSTesting

extension Player {
    mutating func lockAsynchronously(_ token: Token) async {
        let first = number(0...world.asyncMutexes.count - 1)
        let (outer, second) = (world.asyncMutexes[first], number(0...world.asyncMutexes.count - 1))
        // Only in order: what would be a deadlock is refused, which other tests look at.
        let inner = second > first ? world.asyncMutexes[second] : nil
        let (sleeps, time) = (once(in: 4), number(0...20))
        do {
            try await outer.withLock { count in
                count += 1
                Player.spin(time)
                if sleeps { try? await Task.sleep(for: .microseconds(50)) } else { await Task.yield() }
                try await inner?.withLock { inner in
                    inner += 1
                    await Task.yield()
                }
            }
            token.finish()
        } catch {
            token.refuse()
        }
    }

    mutating func takePermit(_ token: Token) async {
        let (semaphore, queue, isHandedOver) = (pick(world.semaphores), pick(world.queues), once(in: 4))
        do {
            if isHandedOver {
                try await semaphore.wait()
                queue.async {
                    semaphore.signal()
                    token.finish()
                }
            } else {
                try await semaphore.withPermit { await Task.yield() }
                token.finish()
            }
        } catch {
            token.refuse()
        }
    }

    mutating func lock(_ token: Token) {
        let (mutex, time, blocks) = (pick(world.mutexes), number(0...50), once(in: 8))
        mutex.mutex.withLock { count in
            count += 1
            Player.spin(time)
            if blocks { usleep(300) }
        }
        token.finish()
    }

    mutating func lockNested(_ token: Token) {
        let (outer, inner, time) = (pick(world.mutexes), pick(world.mutexes), number(0...20))
        do {
            try outer.mutex.withCheckedLock { count in
                count += 1
                Player.spin(time)
                if outer !== inner { try inner.mutex.withCheckedLock { $0 += 1 } }
            }
            token.finish()
        } catch {
            token.refuse()
        }
    }

    /// A short chain of operations, of which one may be cancelled; the token ends with the last one.
    mutating func operate(_ token: Token) async {
        let queue = pick(world.operationQueues)
        let operations = (0..<number(1...4)).map { _ in
            let (time, yields) = (number(0...30), once(in: 2))
            return QoSOperation(level: level()) {
                Player.spin(time)
                if yields { await Task.yield() }
            }
        }
        do {
            for (first, second) in zip(operations, operations.dropFirst()) { try second.addDependency(first) }
            operations.last?.whenFinished { _ in token.finish() }
            if once(in: 2) {
                try queue.add(operations)
            } else {
                for operation in operations.reversed() { try queue.add(operation) }
            }
            if once(in: 4) { pick(operations).cancel() }
            if once(in: 2) { try await operations.last?.waitUntilFinished() }
        } catch {
            // Refused before it was added: the token's release tells of it, since nothing here may be refused.
            Report.line("operation refused: \(error)")
        }
    }
}

import Glibc
import QoSEventLoop
import Synchronization
import Testing

// Signals belong to the whole process, so these tests run one after the other.
@Suite("A signal watch", .tags(.libuv), .serialized)
struct SignalWatchTests {
    @Test("tells of each signal on the loop's thread", arguments: [SIGUSR1, SIGWINCH, SIGHUP])
    func tells(signal: Int32) async throws {
        let arrived = Events()
        try await withRunningLoop { loop in
            let watch = try await loop.perform { () throws(EventLoopError) in
                try loop.watchSignal(signal) { [unowned loop] in
                    if loop.isOnLoopThread {
                        arrived.report()
                    }
                }
            }
            for _ in 0..<3 {
                kill(getpid(), signal)
                arrived.wait()
            }
            #expect(watch.signal == signal)
        }
    }

    @Test("several watches of one signal are told, in one loop and in another")
    func several() async throws {
        let arrived = Events()
        try await withRunningLoop { first in
            try await withRunningLoop { second in
                let watches = [
                    try await first.perform { () throws(EventLoopError) in
                        try first.watchSignal(SIGUSR1) { arrived.report() }
                    },
                    try await first.perform { () throws(EventLoopError) in
                        try first.watchSignal(SIGUSR1) { arrived.report() }
                    },
                    try await second.perform { () throws(EventLoopError) in
                        try second.watchSignal(SIGUSR1) { arrived.report() }
                    },
                ]
                kill(getpid(), SIGUSR1)
                arrived.wait(for: 3)
                withExtendedLifetime(watches) {}
            }
        }
    }

    @Test("after close on the loop's thread the handler is not called, though the signal arrived before")
    func closes() async throws {
        let told = Atomic(0)
        let witnessed = Events()
        try await withRunningLoop { loop in
            let witness = try await loop.perform { () throws(EventLoopError) in
                let watch = try loop.watchSignal(SIGUSR2) { told.add(1, ordering: .relaxed) }
                let witness = try loop.watchSignal(SIGUSR2) { witnessed.report() }
                kill(getpid(), SIGUSR2)
                watch.close()
                watch.close()
                return witness
            }
            witnessed.wait()
            witness.close()
        }
        #expect(told.load(ordering: .relaxed) == 0)
    }

    @Test("dropping the watch on another thread ends it and releases its handler")
    func drops() async throws {
        final class Token: Sendable {}
        try await withRunningLoop { loop in
            weak var token: Token?
            do {
                let held = Token()
                token = held
                let watch = try await loop.perform { () throws(EventLoopError) in
                    try loop.watchSignal(SIGUSR1) { _ = held }
                }
                #expect(watch.signal == SIGUSR1)
            }
            // The body that made the watch held the token too; it is gone when the loop turns again.
            try await loop.perform {}
            #expect(token == nil)
        }
    }

    @Test("after the last watch a signal does what it did before, or what somebody has set meanwhile")
    func restores() async {
        // In processes of their own: the default action ends them.
        await #expect(processExitsWith: .success) {
            signal(SIGUSR2, SIG_IGN)
            let arrived = Events()
            try await withRunningLoop { loop in
                let watches = try await loop.perform { () throws(EventLoopError) in
                    [try loop.watchSignal(SIGUSR2) { arrived.report() }, try loop.watchSignal(SIGUSR2) {}]
                }
                kill(getpid(), SIGUSR2)
                arrived.wait()
                try await loop.perform { watches[0].close() }
                kill(getpid(), SIGUSR2)
                withExtendedLifetime(watches) {}
            }
            kill(getpid(), SIGUSR2)
        }
        await #expect(processExitsWith: .success) {
            try await withRunningLoop { loop in
                let watch = try await loop.perform { () throws(EventLoopError) in
                    try loop.watchSignal(SIGUSR2) {}
                }
                signal(SIGUSR2, SIG_IGN)
                withExtendedLifetime(watch) {}
            }
            kill(getpid(), SIGUSR2)
        }
    }

    @Test("a signal that cannot be caught is refused with what to do", arguments: [SIGKILL, SIGSTOP, 0, -1, 1000])
    func refuses(signal: Int32) async throws {
        try await withRunningLoop { loop in
            let error = await #expect(throws: EventLoopError.self) {
                _ = try await loop.perform { () throws(EventLoopError) in try loop.watchSignal(signal) {} }
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.call == "uv_signal_start")
            #expect(error?.name == "EINVAL")
        }
    }

    @Test("a watch left open ends with the loop, which releases its handler; it may be closed and dropped afterwards")
    func outlivesTheLoop() async throws {
        final class Token: Sendable {}
        weak var token: Token?
        let watch = try await withRunningLoop { loop in
            let held = Token()
            token = held
            return try await loop.perform { () throws(EventLoopError) in
                try loop.watchSignal(SIGUSR1) { _ = held }
            }
        }
        #expect(token == nil)
        watch.close()
    }
}

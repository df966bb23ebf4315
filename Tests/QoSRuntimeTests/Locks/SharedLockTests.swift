import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Synchronization
import Testing

@testable import QoSRuntime

extension ThreadsAndLocks {
    /// A thread that is preempted within a lock of the library is a thread that stays there. The others must not wait
    /// for it, unless they want the same lock, party or thread.
    @Suite("A thread that stays within a lock of the runtime")
    struct SharedLockTests {
        /// Something that a thread stays within until it is let go. It goes by itself after some seconds, so that a test
        /// fails, and does not hang.
        private final class Stay: Sendable {
            private let parker = Parker()
            private let begun = Gate()
            private let ended = Atomic(false)

            var isOver: Bool { ended.load(ordering: .acquiring) }

            func stay() {
                begun.open()
                _ = parker.park(untilNanoseconds: MonotonicClock.nanoseconds() + 10_000_000_000)
                ended.store(true, ordering: .releasing)
            }

            func awaitBegin() { begun.blockThread() }

            func end() { parker.unpark() }
        }

        private static func party(_ number: Int) -> LockParticipant { .thread(UInt32(number + 1)) }
        private static func mutex(_ number: Int) -> LockResource { .mutex(UInt(number + 1) << 4) }

        /// Takes a lock, lets another party wait for it, and hands it over: with all records of both.
        private func handsOver(_ resource: LockResource, from holder: Int, to waiter: Int, _ registry: LockRegistry) {
            let (holder, waiter) = (Self.party(holder), Self.party(waiter))
            var effects = LockEffects()
            registry.withSite(of: resource) { site in
                var made = LockQueue()
                made.holders.append(holder)
                site = made
                _ = registry.begin(waiter, at: .none, for: resource, token: 1, &site!, &effects)
            }
            let circle = registry.refuse(waiter) { _ in false }
            #expect(circle == nil)
            registry.follow(&effects)
            registry.withSite(of: resource) { site in
                _ = registry.handOver(resource, from: holder, &site!, &effects) { _ in (waiter, true, .none) }
            }
            registry.follow(&effects)
        }

        @Test("a site, a party's record and the lock for circles keep no other lock's waiters from their turns")
        func registry() throws {
            let registry = LockRegistry()
            let stays = (0..<3).map { _ in Stay() }
            let threads = [
                try RunningThread(name: "site") { registry.withSite(of: Self.mutex(0)) { _ in stays[0].stay() } },
                try RunningThread(name: "party") { registry.with(Self.party(0)) { _ in stays[1].stay() } },
                try RunningThread(name: "circles") { registry.deadlocks.withLock { _ in stays[2].stay() } },
            ]
            for stay in stays { stay.awaitBegin() }
            // Each number falls into a shard by chance, one in 64 into that of number 0.
            let apart = (1...200).filter {
                LockRegistry.place(of: Self.mutex($0)) != LockRegistry.place(of: Self.mutex(0))
            }
            let parties = (1...200).filter {
                LockRegistry.place(of: Self.party($0)) != LockRegistry.place(of: Self.party(0))
            }
            #expect(apart.count > 180)
            #expect(parties.count > 180)
            for number in 0..<90 {
                handsOver(Self.mutex(apart[number]), from: parties[number], to: parties[number + 90], registry)
            }
            #expect(stays.allSatisfy { !$0.isOver })
            for stay in stays { stay.end() }
            for thread in threads { try thread.join() }
        }

        @Test("I2 a raise in which the kernel stays keeps only those who raise the same thread")
        func raise() throws {
            let stay = Stay()
            let slow = Lock<ThreadID?>(nil)
            let simulated = SimulatedSchedulingCalls(rights: .all)
            // Within the raiser's call, as a call that takes long.
            let calls = FaultInjectingSchedulingCalls(over: simulated) { call in
                guard call == .setScheduling else { return }
                let isSlow = slow.withLock { thread in
                    defer { if thread == .current { thread = nil } }
                    return thread == .current
                }
                if isSlow { stay.stay() }
            }
            LockKernel.replace(with: KernelProfile(calls: calls))
            defer { LockKernel.replace(with: nil) }
            let (mutex, goOn, isHeld) = (SharedMutex(), Gate(), Gate())
            let id = Lock<UInt32>(0)
            let low = QoSThread(name: "low", level: .utility) {
                mutex.mutex.withLock { _ in
                    id.withLock { $0 = UInt32(bitPattern: ThreadID.current.rawValue) }
                    isHeld.open()
                    goOn.blockThread()
                }
            }
            try low.start()
            isHeld.blockThread()
            let raiser = QoSThread(name: "raiser", level: .userInitiated) {
                slow.withLock { $0 = .current }
                mutex.mutex.withLock { _ in }
            }
            try raiser.start()
            stay.awaitBegin()
            // The registry knows the raised thread meanwhile, and other threads raise and hand over.
            let held = id.withLock { $0 }
            #expect(LockRegistry.shared.raise(ofThread: held)?.targetClass == .userInitiated)
            let (other, otherHeld) = (SharedMutex(), Gate())
            let holder = QoSThread(name: "holder", level: .background) {
                other.mutex.withLock { _ in
                    otherHeld.open()
                    while (try? simulated.nice(of: .current)) != LockKernelStage.nice(.userInteractive),
                        !stay.isOver
                    {
                        cqosPause()
                    }
                }
            }
            try holder.start()
            otherHeld.blockThread()
            let high = QoSThread(name: "high", level: .userInteractive) { other.mutex.withLock { _ in } }
            try high.start()
            try high.join()
            try holder.join()
            #expect(!stay.isOver)
            stay.end()
            goOn.open()
            try low.join()
            try raiser.join()
        }
    }
}

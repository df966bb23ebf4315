import QoSCore
import QoSKernel
import QoSKernelTestSupport
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

extension ThreadsAndLocks {
    /// Listeners and escalation handlers run on the thread that is about to wait: after it has entered its wait.
    @Suite("Foreign code on a thread that is about to wait")
    struct ForeignCodeTests {
        /// A thread that holds a mutex until it is let go.
        private struct Holder {
            let lock: SharedMutex
            let goOn = Gate()
            let thread: QoSThread<Void>

            init(_ lock: SharedMutex, level: QoSLevel) throws {
                let (isHeld, goOn) = (Gate(), self.goOn)
                self.lock = lock
                thread = QoSThread(name: "holder", level: level) {
                    lock.mutex.withLock { _ in
                        isHeld.open()
                        goOn.blockThread()
                    }
                }
                try thread.start()
                isHeld.blockThread()
            }

            /// Lets the mutex go when another thread waits for it.
            func endsWhenAwaited() throws {
                lock.waiters(1)
                goOn.open()
                try thread.join()
            }
        }

        @Test("I2 I5 a listener waits for a mutex, or for a queue, on a thread that is about to wait for a mutex")
        func listenerWaits() throws {
            // Without rights each wait is reported, on the waiting thread.
            try LockKernelStage.with(.none) { stage in
                var configuration = QoSScheduler.Configuration(processors: 2, detectsBlocking: false)
                configuration.schedulingCalls = stage.calls
                let scheduler = try QoSScheduler(configuration: configuration)
                let queue = scheduler.makeQueue("queue")
                let inner = try Holder(SharedMutex(), level: .userInteractive)
                let outer = try Holder(SharedMutex(name: "listened to"), level: .background)
                let (isBusy, goOn, passed) = (Gate(), Gate(), Collected<String>())
                queue.async(level: .userInteractive) {
                    isBusy.open()
                    goOn.blockThread()
                }
                isBusy.blockThread()
                let token = InversionDetection.listen { report in
                    guard report.resource == "mutex 'listened to'" else { return }
                    inner.lock.mutex.withLock { _ in passed.append("mutex") }
                    try? queue.sync { passed.append("queue") }
                }
                defer { InversionDetection.stop(token) }
                let high = QoSThread(name: "high", level: .userInitiated) {
                    outer.lock.mutex.withLock { _ in passed.append("outer") }
                }
                try high.start()
                try inner.endsWhenAwaited()
                while queue.waitingCount == 0 { cqosPause() }
                goOn.open()
                try outer.endsWhenAwaited()
                try high.join()
                #expect(passed.all == ["mutex", "queue", "outer"])
            }
        }

        @Test("I2 I5 a listener gets the very mutex that its thread waits for, and is told of the wait once")
        func listenerWantsTheSame() throws {
            try LockKernelStage.with(.none) { _ in
                let (told, passed) = (Gate(), Collected<String>())
                let outer = try Holder(SharedMutex(name: "the same"), level: .background)
                let token = InversionDetection.listen { report in
                    guard report.resource == "mutex 'the same'" else { return }
                    told.open()
                    outer.lock.mutex.withLock { _ in passed.append("listener") }
                }
                defer { InversionDetection.stop(token) }
                let high = QoSThread(name: "high", level: .userInitiated) {
                    outer.lock.mutex.withLock { _ in passed.append("thread") }
                }
                try high.start()
                told.blockThread()
                try outer.endsWhenAwaited()
                try high.join()
                #expect(passed.all == ["listener", "thread"])
            }
        }

        @Test("I5 a thread that waits for what a listener holds is not refused: the listener gives it back")
        func listenerHolds() throws {
            // Without rights each wait is reported, on the waiting thread.
            try LockKernelStage.with(.none) { _ in
                let (outer, inner) = (SharedMutex(name: "waited for"), SharedMutex(name: "the listener's"))
                let (isHeld, isInnerHeld) = (Gate(), Gate())
                let (ids, errors) = (Collected<UInt32>(), Collected<String>())
                let token = InversionDetection.listen { report in
                    guard report.resource == "mutex 'waited for'" else { return }
                    inner.mutex.withLock { _ in
                        isInnerHeld.open()
                        // Until the other thread has looked for a circle.
                        while errors.all.isEmpty,
                            LockRegistry.shared.entry(of: .thread(ids.all[0]))?.record.wait?.isSettled != true
                        {
                            cqosPause()
                        }
                    }
                }
                defer { InversionDetection.stop(token) }
                let low = QoSThread(name: "low", level: .background) {
                    outer.mutex.withLock { _ in
                        ids.append(UInt32(bitPattern: ThreadID.current.rawValue))
                        isHeld.open()
                        isInnerHeld.blockThread()
                        do { try inner.mutex.withCheckedLock { $0 += 1 } } catch { errors.append("\(error)") }
                    }
                }
                try low.start()
                isHeld.blockThread()
                let high = QoSThread(name: "high", level: .userInitiated) { outer.mutex.withLock { _ in } }
                try high.start()
                try low.join()
                try high.join()
                #expect(errors.all == [])
                #expect(inner.mutex.withLock { $0 } == 1)
            }
        }

        @Test(
            "I5 an observer of a refused wait wants the mutex of that wait, and is refused as well",
            arguments: [false, true])
        func observerOfRefusal(isLate: Bool) throws {
            let (own, wanted) = (SharedMutex(name: "own"), SharedMutex(name: "wanted, late: \(isLate)"))
            let (inner, outer) = (Collected<String>(), Collected<String>())
            let (isHeld, isWantedHeld) = (Gate(), Gate())
            let token = InversionDetection.listen { report in
                guard report.kind == .deadlock, report.resource == "mutex 'wanted, late: \(isLate)'", inner.all.isEmpty
                else { return }
                inner.append("asked")
                do { try wanted.mutex.withCheckedLock { _ in } } catch { inner.append("\(error)") }
            }
            defer { InversionDetection.stop(token) }
            let first = QoSThread(name: "first", level: .utility) {
                own.mutex.withLock { _ in
                    isHeld.open()
                    isWantedHeld.blockThread()
                    // Its own look finds the circle, or the other thread closes it later.
                    if !isLate { own.waiters(1) }
                    do { try wanted.mutex.withCheckedLock { _ in } } catch { outer.append("\(error)") }
                }
            }
            let second = QoSThread(name: "second", level: .utility) {
                isHeld.blockThread()
                wanted.mutex.withLock { _ in
                    isWantedHeld.open()
                    if isLate { wanted.waiters(1) }
                    own.mutex.withLock { _ in }
                }
            }
            try first.start()
            try second.start()
            try first.join()
            try second.join()
            #expect(inner.all.count == 2 && outer.all.count == 1)
        }

        @Test("I2 an escalation handler waits for a mutex while its thread runs a task that begins to wait")
        func handlerWaits() async throws {
            let inner = try Holder(SharedMutex(), level: .userInteractive)
            let (mutex, isHeld, goOn) = (AsyncMutex(0), Gate(), Gate())
            let raised = Gate()
            let low = Task.detached(priority: .background) {
                await withTaskPriorityEscalationHandler {
                    try? await mutex.withLock { _ in
                        isHeld.open()
                        await goOn.passed()
                    }
                } onPriorityEscalated: { _, _ in
                    inner.lock.mutex.withLock { _ in }
                    raised.open()
                }
            }
            await isHeld.passed()
            let high = Task.detached(priority: .high) { try await mutex.withLock { $0 } }
            while inner.lock.waiterCount == 0 { await Task.yield() }
            inner.goOn.open()
            await raised.passed()
            goOn.open()
            await low.value
            _ = try await high.value
            try await inner.thread.value
        }

        @Test("I2 I5 a refused wait leaves its raise to an equal waiter that came after it")
        func refusedBesideAnEqual() throws {
            try LockKernelStage.with(.all) { stage in
                let (first, second) = (SharedMutex(), SharedMutex())
                let (isHeld, ids, errors) = (Gate(), Collected<UInt32>(), Collected<String>())
                // Nothing raises it but the wait for the first mutex: the second one's holder is the refused waiter.
                let low = QoSThread(name: "low", level: .background) {
                    first.mutex.withLock { _ in
                        ids.append(UInt32(bitPattern: ThreadID.current.rawValue))
                        isHeld.blockThread()
                        second.mutex.withLock { _ in }
                    }
                }
                try low.start()
                let goOn = Gate()
                let refused = QoSThread(name: "refused", level: .userInitiated) {
                    second.mutex.withLock { _ in
                        isHeld.open()
                        second.waiters(1)
                        do { try first.mutex.withCheckedLock { _ in } } catch { errors.append("\(error)") }
                        goOn.blockThread()
                    }
                }
                let equal = QoSThread(name: "equal", level: .userInitiated) { first.mutex.withLock { _ in } }
                while ids.all.isEmpty { cqosPause() }
                // The refusal waits for the lock for circles, until the equal waiter has come.
                try LockRegistry.shared.deadlocks.withLock { _ in
                    try refused.start()
                    first.waiters(1)
                    try equal.start()
                    first.waiters(2)
                }
                while try stage.nice(of: ids.all[0]) != LockKernelStage.nice(.userInitiated) { cqosPause() }
                goOn.open()
                for thread in [low, refused, equal] { try thread.join() }
                #expect(errors.all.count == 1)
            }
        }
    }
}

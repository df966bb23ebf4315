import QoSCore
import QoSKernel

// The events of workers and classes. Each event returns the workers to wake; admission counts them already.

extension Admission {
    /// Notes that a class has work that no worker looks for.
    ///
    /// A high class does not wait for admission. A lower one does: its worker might otherwise run although the class is
    /// paused.
    func workBecameRunnable(rank: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.workBecameRunnable(QoSClass(atRank: rank), at: now)
        } note: { notes in
            guard rank >= Self.lowestHurried else {
                notes.leave(.wanted, rank: rank)
                return AdmittedWorkers()
            }
            notes.leave(count: 1, rank: rank)
            return AdmittedWorkers(QoSClass(atRank: rank))
        }
    }

    /// Notes that a worker found no work, or that no worker could be woken. The worker is no longer counted.
    func workerWentIdle(rank: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.workerWentIdle(QoSClass(atRank: rank), at: now)
        } note: { notes in
            notes.leave(count: -1, rank: rank)
            notes.leave(.idle, rank: rank)
            return AdmittedWorkers()
        }
    }

    /// Answers a worker that has to ask before its next job, or whose job is at a checkpoint. A worker that does not
    /// wait goes on if the lock is taken, and asks again the next time.
    ///
    /// - Parameter waits: whether the worker may wait for the lock. A worker of the high classes waits only when the
    ///   holder is overdue.
    func workerAsked(rank: Int, waits: Bool = true) -> Asked {
        var result = AskedAnswer.goesOn
        let admit = event(waits: waits && (rank < Self.lowestHurried || isOverdue)) { machine, now in
            let qosClass = QoSClass(atRank: rank)
            let answer = machine.workerAsked(qosClass, at: now)
            if answer.verdict == .park {
                result = machine.table.runsHigher(than: qosClass) ? .parks : .parksAsHighest
            }
            return answer.actions
        } note: { _ in
            AdmittedWorkers()
        }
        return Asked(answer: result, admit: admit)
    }

    /// Notes that a worker's thread waits in the kernel with its job unfinished. The worker is no longer counted.
    func workerBlocked(rank: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.workerBlocked(QoSClass(atRank: rank), at: now)
        } note: { notes in
            notes.leave(count: -1, rank: rank)
            return AdmittedWorkers()
        }
    }

    /// Notes that the job of a blocked or waiting worker goes on, or has ended. The worker is counted again.
    func workerUnblocked(rank: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.workerUnblocked(QoSClass(atRank: rank), at: now)
        } note: { notes in
            notes.leave(count: 1, rank: rank)
            return AdmittedWorkers()
        }
    }

    /// Notes that a worker's job was raised to another class, or has ended. From now on the worker counts there.
    func workerMoved(from: QoSClass, to: QoSClass) -> AdmittedWorkers {
        event { machine, now in
            machine.workerMoved(from: from, to: to, at: now)
        } note: { notes in
            notes.leave(count: -1, rank: from.rank)
            notes.leave(count: 1, rank: to.rank)
            return AdmittedWorkers()
        }
    }

    /// Raises a fence, because awaited work runs in a lower class and cannot be raised. The classes up to the waiter's
    /// take no jobs meanwhile.
    ///
    /// - Returns: the workers to wake, and the fence to lift. The fence is `nil` when enough are up, or when a thread
    ///   that does not wait found the lock taken. In that case the loop's look at the worker tries again.
    func fenceRaised(upTo ceiling: QoSClass, holder: QoSClass) -> (fence: FenceID?, admit: AdmittedWorkers) {
        var fence: FenceID?
        let admit = event { machine, now in
            let answer = machine.fenceRaised(upTo: ceiling, holder: holder, at: now)
            fence = answer.fence
            return answer.actions
        } note: { _ in
            AdmittedWorkers()
        }
        return (fence, admit)
    }

    /// Lifts a fence, because the awaited work has ended.
    func fenceLifted(_ fence: FenceID) -> AdmittedWorkers {
        event { machine, now in
            machine.fenceLifted(fence, at: now).actions
        } note: { notes in
            notes.leave(lifted: fence)
            return AdmittedWorkers()
        }
    }

    /// Notes that from now on the process may use another number of processors.
    func coresChanged(to cores: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.coresChanged(to: cores, at: now)
        } note: { notes in
            notes.leave(cores: cores)
            return AdmittedWorkers()
        }
    }

    /// Notes which classes the budget of processor time holds back from now on.
    ///
    /// - Parameter waits: whether the caller waits for the lock: a worker of a low class between two jobs.
    func heldBackChanged(to held: QoSClassSet, waits: Bool) -> AdmittedWorkers {
        event(waits: waits) { machine, now in
            machine.heldBackChanged(to: held, at: now)
        } note: { notes in
            notes.leave(held: held)
            return AdmittedWorkers()
        }
    }

    /// Limits a class for the governor; `Int.max` is no limit, 0 pauses the class.
    func widthLimitChanged(rank: Int, to limit: Int) -> AdmittedWorkers {
        notes.set(limit: limit, rank: rank, at: MonotonicClock.nanoseconds())
        notes.leave(.limit, rank: rank)
        return event { machine, now in
            machine.ticked(at: now)
        } note: { _ in
            AdmittedWorkers()
        }
    }
}

extension Admission {
    /// The answer to a worker, and the classes that the question admitted.
    struct Asked {
        let answer: AskedAnswer
        /// The workers to wake.
        let admit: AdmittedWorkers
    }

    /// The answer to a worker that asked.
    enum AskedAnswer {
        /// The worker takes its next job.
        case goesOn
        /// The worker parks, and is no longer counted.
        case parks
        /// The worker parks, and no worker of a higher class runs: its processor is now free.
        case parksAsHighest
    }
}

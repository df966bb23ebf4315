import QoSCore
import QoSKernel

// What happens to workers and classes. Each event returns the workers that are to be woken; admission counts them already.

extension Admission {
    /// There is work of a class that no worker looks for.
    ///
    /// A high class does not wait to be admitted. A lower one does: its worker might run although the class is paused.
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

    /// A worker found nothing to do, or no worker could be woken: it is not counted any more.
    func workerWentIdle(rank: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.workerWentIdle(QoSClass(atRank: rank), at: now)
        } note: { notes in
            notes.leave(count: -1, rank: rank)
            notes.leave(.idle, rank: rank)
            return AdmittedWorkers()
        }
    }

    /// A worker that has to ask is about to take its next job, or its job is at a checkpoint. One that does not wait goes on where the lock
    /// is taken, and asks again the next time.
    ///
    /// - Parameter waits: whether the worker may wait for the lock; one of the high classes does only when the holder is overdue.
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

    /// A worker's thread waits in the kernel with its job unfinished: it is not counted any more.
    func workerBlocked(rank: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.workerBlocked(QoSClass(atRank: rank), at: now)
        } note: { notes in
            notes.leave(count: -1, rank: rank)
            return AdmittedWorkers()
        }
    }

    /// The job of a blocked or waiting worker goes on, or has ended: it is counted again.
    func workerUnblocked(rank: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.workerUnblocked(QoSClass(atRank: rank), at: now)
        } note: { notes in
            notes.leave(count: 1, rank: rank)
            return AdmittedWorkers()
        }
    }

    /// A worker's job was raised to another class, or has ended: the worker counts there from now on.
    func workerMoved(from: QoSClass, to: QoSClass) -> AdmittedWorkers {
        event { machine, now in
            machine.workerMoved(from: from, to: to, at: now)
        } note: { notes in
            notes.leave(count: -1, rank: from.rank)
            notes.leave(count: 1, rank: to.rank)
            return AdmittedWorkers()
        }
    }

    /// Work that a class waits for runs lower and cannot be raised: the classes up to it take no jobs meanwhile.
    ///
    /// - Returns: also, the fence to lift; `nil` when enough are up, or when a thread that does not wait found the lock taken: the
    ///   loop's look at the worker tries again.
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

    /// The awaited work has ended.
    func fenceLifted(_ fence: FenceID) -> AdmittedWorkers {
        event { machine, now in
            machine.fenceLifted(fence, at: now).actions
        } note: { notes in
            notes.leave(lifted: fence)
            return AdmittedWorkers()
        }
    }

    /// The process may use another number of processors from now on.
    func coresChanged(to cores: Int) -> AdmittedWorkers {
        event { machine, now in
            machine.coresChanged(to: cores, at: now)
        } note: { notes in
            notes.leave(cores: cores)
            return AdmittedWorkers()
        }
    }

    /// The governor limits a class; `Int.max` is no limit, 0 pauses it.
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
        /// It takes its next job.
        case goesOn
        /// It parks, and is not counted any more.
        case parks
        /// The same, and no worker of a higher class runs: the processor it was on is free.
        case parksAsHighest
    }
}

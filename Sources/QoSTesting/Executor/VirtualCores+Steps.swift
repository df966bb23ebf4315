internal import QoSCore

// What happens next.

extension VirtualCores {
    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - limit: Nanoseconds; time does not pass beyond it.
    ///   - timer: The time of the clock's next wake-up.
    mutating func step(until limit: Int64, timer: Int64?) -> Step {
        promoteIfDue()
        while let index = dueWorker() {
            if let work = workers[index].works.first {
                workers[index].works.removeFirst()
                resuming = workers[index].id
                return .resume(work.continuation)
            }
            if let job = nextJob(of: index) {
                counters.jobsRun += 1
                return .run(job)
            }
        }
        if promotes() { return step(until: limit, timer: timer) }
        let ends = workers.prefix(cores).compactMap { $0.works.first?.remaining }.map { now + $0 }
        let next = (ends + [timer, actions.lookAgainAt?.nanoseconds].compactMap { $0 }).min()
        guard let next, next <= limit else { return .nothing }
        pass(to: max(now, next))
        return .timePassed
    }

    /// Lets time pass: the jobs on the cores advance.
    mutating func pass(to time: Int64) {
        let elapsed = time - now
        if elapsed > 0 {
            record(until: time)
            for index in workers.indices.prefix(cores) where !workers[index].works.isEmpty {
                workers[index].works[0].remaining -= elapsed
            }
            now = time
        }
        if let tick = actions.lookAgainAt, tick.nanoseconds <= now { apply(machine.ticked(at: self.time)) }
    }

    /// The worker that acts now: it has a core and no time to wait for.
    private mutating func dueWorker() -> Int? {
        let due = workers.indices.prefix(cores).filter { workers[$0].isDue }
        return order.isShuffled ? due.randomElement(using: &random) : due.first
    }

    /// Takes the next job for a worker between two jobs; `nil` if the worker leaves instead.
    private mutating func nextJob(of index: Int) -> VirtualJob? {
        let qosClass = workers[index].home
        guard nextJob(qosClass) != nil else {
            workers.remove(at: index)
            apply(machine.workerWentIdle(qosClass, at: time))
            return nil
        }
        if actions.mustAsk.contains(qosClass) {
            let (verdict, actions) = machine.workerAsked(qosClass, at: time)
            let worker = workers[index].id
            if verdict == .park { workers.remove(at: index) }
            apply(actions)
            guard verdict == .take, let place = self.index(of: worker) else { return nil }
            return take(place)
        }
        return take(index)
    }

    private mutating func take(_ index: Int) -> VirtualJob? {
        let qosClass = workers[index].home
        guard let place = nextJob(qosClass) else { return nil }
        let job = queues[qosClass.rank].take(at: place)
        let isFirst = workers[index].isSearching
        workers[index].isSearching = false
        workers[index].job = job
        current = workers[index].id
        if isFirst, nextJob(qosClass) != nil { askForWorker(qosClass) }
        return job
    }

    // MARK: Reports

    /// Begins a task's CPU time.
    ///
    /// - Returns: `false` if no job of this scheduler runs.
    mutating func workBegan(_ work: VirtualWorker.Work) -> Bool {
        guard let current, let index = index(of: current) else { return false }
        workers[index].works.append(work)
        return true
    }

    /// Notes that the code of the current job came back.
    ///
    /// - Returns: the rest of the job, to be run now.
    mutating func jobReturned() -> VirtualJob? {
        hasRunCode = true
        if let job = rest.take() { return job }
        guard let current, let index = index(of: current) else { return nil }
        self.current = nil
        if workers[index].works.isEmpty { endJob(index) }
        return nil
    }

    /// Notes that a task was resumed at the end of its CPU time.
    ///
    /// - Returns: the rest of its job, to be run now; `nil` if the task goes on elsewhere.
    mutating func workResumed() -> VirtualJob? {
        guard let worker = resuming, let index = index(of: worker) else { return nil }
        resuming = nil
        if let job = rest.take() {
            current = worker
            return job
        }
        if workers[index].works.isEmpty { endJob(index) }
        return nil
    }

    private mutating func endJob(_ index: Int) {
        var worker = workers.remove(at: index)
        let lane = worker.job?.lane
        worker.job = nil
        let old = worker.counted
        worker.counted = worker.home
        insert(worker)
        if old != worker.home { apply(machine.workerMoved(from: old, to: worker.home, at: time)) }
        guard lane != nil else { return }
        for qosClass in QoSClass.descending where nextJob(qosClass) != nil { askForWorker(qosClass) }
    }
}

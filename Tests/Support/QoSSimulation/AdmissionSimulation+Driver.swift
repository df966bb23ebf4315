internal import QoSCore

// The driver: queues, workers, and the fast path that calls the machine only when it has to.

extension AdmissionSimulation {
    /// Applies an event from outside.
    mutating func happen(_ kind: ScriptEvent.Kind) throws(SimulationViolation) {
        switch kind {
        case .arrive(let qosClass, let length):
            let index = outcomes == nil ? -1 : nextScript - 1
            queues[qosClass.rank].push(JobQueue.Job(arrived: now, length: length, index: index))
            results.longestJob[qosClass.rank] = max(results.longestJob[qosClass.rank], length)
            try askForWorker(qosClass)
        case .loop(let qosClass, let tasks, let length, let until):
            results.longestJob[qosClass.rank] = max(results.longestJob[qosClass.rank], length)
            for _ in 0..<tasks {
                queues[qosClass.rank].push(JobQueue.Job(arrived: now, length: length, loopsUntil: until))
            }
            try askForWorker(qosClass)
        case .width(let qosClass, let width):
            try send(.widthChanged(qosClass, width))
        case .cores(let count):
            cores = count
            try send(.coresChanged(count))
        case .block(let qosClass, let nanoseconds):
            guard let index = workers.firstIndex(where: { $0.home == qosClass && $0.state == .inJob }) else { return }
            workers[index].state = .blocked(until: now + nanoseconds)
            try send(.workerBlocked(workers[index].counted))
        case .fence(let ceiling, let holder):
            guard let index = workers.firstIndex(where: { $0.home == holder && !$0.isWaking }) else { return }
            let raised = try send(.fenceRaised(upTo: ceiling, holder: workers[index].counted))
            guard let fence = raised.fence else { return }
            workers[index].fences.append(fence)
        case .raise(let old, let new):
            guard let index = workers.firstIndex(where: { $0.counted == old && $0.state == .inJob }), old < new else {
                return
            }
            var worker = workers.remove(at: index)
            worker.counted = new
            insert(worker)
            try send(.workerMoved(from: old, to: new))
        }
    }

    /// Handles a worker that woke up, ended its job, or whose job runs on.
    mutating func workerIsDue(_ index: Int) throws(SimulationViolation) {
        if case .blocked = workers[index].state {
            workers[index].state = .inJob
            try send(.workerUnblocked(workers[index].counted))
            return
        }
        // Out of the list until it has a job: the events below may admit others.
        var worker = workers.remove(at: index)
        if worker.isWaking {
            try next(worker, isFirst: true)
        } else {
            results.finished[worker.home.rank] += 1
            if worker.job.index >= 0 { outcomes?[worker.job.index].ended = now }
            if now < worker.job.loopsUntil {
                worker.job.arrived = now
                queues[worker.home.rank].push(worker.job)
            }
            try endJob(&worker)
            try next(worker, isFirst: false)
        }
    }

    /// Returns the worker to its class and lifts the job's fences.
    private mutating func endJob(_ worker: inout SimulatedWorker) throws(SimulationViolation) {
        if worker.counted != worker.home {
            guard worker.counted > worker.home else { throw violation("a job was lowered while it ran") }
            try send(.workerMoved(from: worker.counted, to: worker.home))
            worker.counted = worker.home
        }
        for fence in worker.fences {
            guard try send(.fenceLifted(fence)).wasUp == true else {
                throw violation("a fence that was raised was not up when lifted")
            }
            guard try send(.fenceLifted(fence)).wasUp == false else { throw violation("a fence was lifted twice") }
        }
        worker.fences = []
    }

    /// Looks for the next job of a worker.
    private mutating func next(_ idle: SimulatedWorker, isFirst: Bool) throws(SimulationViolation) {
        var worker = idle
        let qosClass = worker.home
        guard !queues[qosClass.rank].isEmpty else {
            try send(.workerWentIdle(qosClass))
            return
        }
        if actions.mustAsk.contains(qosClass) {
            guard try send(.workerAsked(qosClass, isExempt: false)).verdict == .take else { return }
        }
        if checksInvariants { try checkTake(qosClass) }
        guard let job = queues[qosClass.rank].pop() else { throw violation("a queue lost a job") }
        if keepsDelays { results.delays[qosClass.rank].append(now - job.arrived) }
        if job.index >= 0 { outcomes?[job.index].started = now }
        worker.state = .inJob
        worker.job = job
        worker.remaining = job.length * world.leakDivisor
        insert(worker)
        if isFirst, !queues[qosClass.rank].isEmpty { try askForWorker(qosClass) }
    }

    /// Asks for one more worker of a class unless one is on its way or asked for already.
    private mutating func askForWorker(_ qosClass: QoSClass) throws(SimulationViolation) {
        guard !actions.waiting.contains(qosClass), !isWaking(qosClass) else { return }
        try send(.workBecameRunnable(qosClass))
    }

    func isWaking(_ qosClass: QoSClass) -> Bool {
        workers.contains { $0.home == qosClass && $0.isWaking }
    }

    /// Inserts a worker behind those of its counted class.
    mutating func insert(_ worker: SimulatedWorker) {
        workers.insert(worker, at: workers.firstIndex { $0.counted < worker.counted } ?? workers.count)
    }
}

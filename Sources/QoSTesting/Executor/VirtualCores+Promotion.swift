internal import QoSCore

// Work that something of a higher class waits for (rules I3, I4).

extension VirtualCores {
    /// The number of queued jobs of a class that a look covers: as many as the real scheduler covers in one worker's
    /// queue.
    private static let limit = 1024

    /// Looks for raised work after code has run. With more queued jobs, more jobs run between two looks, so a look
    /// costs each job the same.
    mutating func promoteIfDue() {
        guard hasRunCode else { return }
        stepsSinceLook += 1
        let queued = queues.reduce(0) { $0 + min($1.count, Self.limit) }
        if stepsSinceLook * 16 >= queued { _ = promotes() }
    }

    /// Moves queued tasks that were raised, and raises the workers of running ones.
    ///
    /// - Returns: whether any work was raised; `false` too if no code has run since the last look.
    mutating func promotes() -> Bool {
        guard hasRunCode else { return false }
        hasRunCode = false
        stepsSinceLook = 0
        let before = (counters.tasksMoved, counters.runningPromoted)
        for rank in 0..<QoSClass.userInteractive.rank { moveRaised(rank: rank) }
        for id in workers.map(\.id) {
            guard let index = index(of: id), let job = workers[index].job else { continue }
            var wanted = workers[index].counted
            if job.isTask { wanted = job.wantedClass(atLeast: wanted) }
            if let lane = job.lane, let waiting = highestWaiting(in: lane) { wanted = max(wanted, waiting) }
            if wanted > workers[index].counted { raise(index, to: wanted) }
        }
        return before != (counters.tasksMoved, counters.runningPromoted)
    }

    private mutating func moveRaised(rank: Int) {
        guard let own = QoSClass(rank: rank) else { return }
        var index = queues[rank].waiting.startIndex
        var seen = 0
        while seen < Self.limit, index < queues[rank].waiting.endIndex {
            seen += 1
            let wanted = queues[rank].waiting[index].wantedClass(atLeast: own)
            guard wanted > own else {
                index += 1
                continue
            }
            let isFirst = index == queues[rank].waiting.startIndex
            let job = queues[rank].take(at: index)
            if isFirst { index = queues[rank].waiting.startIndex }
            counters.tasksMoved += 1
            queues[wanted.rank].add(job)
            askForWorker(wanted)
        }
    }

    private func highestWaiting(in lane: ObjectIdentifier) -> QoSClass? {
        QoSClass.descending.first { qosClass in
            queues[qosClass.rank].waiting.contains { $0.lane == lane }
        }
    }

    private mutating func raise(_ index: Int, to qosClass: QoSClass) {
        var worker = workers.remove(at: index)
        let old = worker.counted
        worker.counted = qosClass
        insert(worker)
        counters.runningPromoted += 1
        apply(machine.workerMoved(from: old, to: qosClass, at: time))
    }

    // MARK: Timelines

    /// Records the state of classes and cores until a time.
    mutating func record(until time: Int64) {
        let onCores = workers.prefix(cores)
        for (core, worker) in onCores.enumerated() {
            guard let work = worker.works.first else { continue }
            let mark = work.label ?? Timeline.digit(worker.home.rank)
            coreRecorder.note(row: core, mark: mark, from: now, to: time)
        }
        for qosClass in QoSClass.allCases {
            let running = onCores.filter { $0.home == qosClass && !$0.works.isEmpty }
            let label = running.count == 1 ? running.first?.works.first?.label : nil
            let isWaiting =
                !queues[qosClass.rank].isEmpty || workers.contains { $0.home == qosClass && !$0.works.isEmpty }
            let mark =
                running.isEmpty
                ? (isWaiting ? Timeline.waiting : Timeline.nothing) : label ?? Timeline.digit(running.count)
            recorder.note(row: TimelineRecorder.row(of: qosClass), mark: mark, from: now, to: time)
        }
    }
}

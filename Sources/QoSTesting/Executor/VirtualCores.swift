internal import QoSCore
internal import QoSKernel

/// The decisions of a deterministic scheduler: the next job, and the passing of time.
///
/// Admission is the real scheduler's own value. Queues, workers and the kernel are models: the workers of the highest
/// counted classes have the cores. The driver asks for a ``Step``, carries it out, and reports.
///
/// - Complexity: O(workers) a step, and O(queued jobs, at most 1024 a class) after one that ran a task.
struct VirtualCores {
    /// The driver's next step.
    enum Step {
        /// Run the job, then report ``jobReturned()``.
        case run(VirtualJob)
        /// Resume, then report ``workResumed()``.
        case resume(CheckedContinuation<Void, Never>)
        /// Time has passed to ``now``: move the clock.
        case timePassed
        /// Nothing more happens until the limit.
        case nothing
    }

    let cores: Int
    let order: DeterministicScheduler.Order
    var machine: AdmissionMachine
    var actions = AdmissionActions()
    var now: Int64 = 0
    var queues = Array(repeating: VirtualQueue(), count: QoSClass.allCases.count)
    /// The workers from the highest counted class to the lowest, in the order of admission inside a class.
    var workers: [VirtualWorker] = []
    /// The worker whose job's code runs at this moment.
    var current: Int?
    /// The worker whose task is being resumed. The next incoming job is the rest of its job.
    var resuming: Int?
    /// The rest of the current worker's job, to be run before anything else.
    var rest: VirtualJob?
    /// Whether code of tasks has run since the last search of the queues for raised tasks.
    var hasRunCode = false
    var stepsSinceLook = 0
    /// The thread that drives; `nil` without one.
    var driver: ThreadID?
    var random: SeededGenerator
    var recorder = TimelineRecorder.ofClasses
    var coreRecorder: TimelineRecorder
    var counters = DeterministicScheduler.Counters()
    private var lastWorker = 0

    init(cores: Int, order: DeterministicScheduler.Order) {
        self.cores = max(1, cores)
        self.order = order
        var parameters = SchedulingParameters()
        // There is no kernel below that would separate the classes.
        parameters.crowdingGrace = .zero
        machine = AdmissionMachine(cores: self.cores, parameters: parameters)
        coreRecorder = TimelineRecorder(labels: (0..<self.cores).map { "core\($0)" })
        random = SeededGenerator(seed: order.seed)
    }

    var time: SchedulerInstant { SchedulerInstant(nanoseconds: now) }

    /// Whether jobs are queued or running.
    var hasWork: Bool { !workers.isEmpty || queues.contains { !$0.isEmpty } }

    /// Adds a job.
    mutating func added(_ job: VirtualJob, _ qosClass: QoSClass) {
        if rest == nil, driver == .current, resuming != nil || isRestOfCurrent(job) {
            rest = job
            return
        }
        queues[qosClass.rank].add(job)
        askForWorker(qosClass)
    }

    /// Whether a task only changes its executor and keeps a serial one. If a task prefers another task executor than
    /// its serial executor's, the library enqueues the task on the serial executor that already runs it.
    private func isRestOfCurrent(_ job: VirtualJob) -> Bool {
        guard let lane = job.lane, let current, let index = index(of: current), let own = workers[index].job else {
            return false
        }
        return own.lane == lane && own.identity == job.identity
    }

    /// Returns the index of the next job of a class in its queue; `nil` if none may run.
    mutating func nextJob(_ qosClass: QoSClass) -> Int? {
        let queue = queues[qosClass.rank].waiting
        let busy = Set(workers.compactMap { $0.job?.lane })
        func mayRun(_ index: Int) -> Bool { queue[index].lane.map { !busy.contains($0) } ?? true }
        guard order.isShuffled else { return queue.indices.first(where: mayRun) }
        // Jobs of one serial executor keep their order; of each only the first takes part.
        var lanes = busy
        let candidates = queue.indices.filter { index in queue[index].lane.map { lanes.insert($0).inserted } ?? true }
        return candidates.randomElement(using: &random)
    }

    /// Asks for one more worker of a class unless one is on its way or asked for already.
    mutating func askForWorker(_ qosClass: QoSClass) {
        guard !actions.waiting.contains(qosClass),
            !workers.contains(where: { $0.home == qosClass && $0.isSearching })
        else { return }
        apply(machine.workBecameRunnable(qosClass, at: time))
    }

    /// Records admission's answer, and makes the admitted workers.
    mutating func apply(_ actions: AdmissionActions) {
        self.actions = actions
        var admitted = actions.admit
        while let qosClass = admitted.popHighest() {
            lastWorker += 1
            insert(VirtualWorker(id: lastWorker, home: qosClass, counted: qosClass))
        }
    }

    /// Inserts a worker behind those of its counted class.
    mutating func insert(_ worker: VirtualWorker) {
        workers.insert(worker, at: workers.firstIndex { $0.counted < worker.counted } ?? workers.count)
    }

    func index(of worker: Int) -> Int? { workers.firstIndex { $0.id == worker } }
}

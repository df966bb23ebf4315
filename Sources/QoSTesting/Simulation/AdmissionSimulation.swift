package import QoSCore

/// A machine, a driver, a kernel and a world in virtual time.
///
/// The driver behaves as a real one: it has queues and workers, tests the published `mustAsk` set before a worker
/// takes a job, and calls the machine only then, when a worker goes idle, and when work arrives that nobody looks
/// for. The kernel is crude: the highest workers get the cores, the others a leak.
package struct AdmissionSimulation {
    package let world: SimulatedWorld
    let parameters: SchedulingParameters
    package var machine: PickMachine
    /// Compared with the machine decision by decision, where given.
    package var judge: (any AdmissionJudge)?
    let checksInvariants: Bool

    package var now: Int64 = 0
    var cores: Int
    var nextScript = 0
    var queues: [JobQueue] = Array(repeating: JobQueue(), count: 5)
    /// From the highest counted class to the lowest, in the order of admission inside a class.
    package var workers: [SimulatedWorker] = []
    var actions = AdmissionActions()

    /// Whether the delay of every job is kept.
    package var keepsDelays = false
    /// When each job of the script started and ended, where that is kept; in the order of the script.
    var outcomes: [(started: Int64?, ended: Int64?)]?
    /// Draws what the classes do, where one is given.
    package var recorder: TimelineRecorder?
    /// Steps since time last passed.
    private var stepsAtOnce = 0
    /// Events of the machine so far.
    package var events = 0
    package var results = SimulationResults()
    var unserved: [Int64] = Array(repeating: 0, count: 5)

    /// The classes that, with those above them, have left a core to others since then.
    var leftBy = Array(repeating: QoSClassSet(), count: 5)
    /// By how much a violation is overlooked; tests of the tests make it negative.
    package var slack: Int64 = 0

    /// Makes the run of a world, at its beginning.
    ///
    /// - Parameters:
    ///   - world: What happens.
    ///   - judge: Who is asked what the machine should have answered; each other answer is a violation.
    ///   - checksInvariants: Whether every state is checked, in O(workers).
    package init(_ world: SimulatedWorld, judgedBy judge: (any AdmissionJudge)? = nil, checksInvariants: Bool = true) {
        self.world = world
        let parameters = world.parameters
        self.parameters = parameters
        machine = PickMachine(cores: world.cores, parameters: parameters)
        self.judge = judge
        cores = world.cores
        self.checksInvariants = checksInvariants
    }

    /// Runs the whole script and then until nothing is left to do, and checks that nothing is left over.
    package mutating func runToEnd() throws(SimulationViolation) {
        try run(until: (world.script.last?.at ?? 0) + 1)
        for qosClass in QoSClass.allCases {
            try send(.widthChanged(qosClass, .max))
        }
        let horizon = now + 3_600_000_000_000
        while try step(until: horizon) {}
        guard workers.isEmpty, queues.allSatisfy(\.isEmpty) else { throw violation("work is left at the end") }
        guard machine.raisedFences == 0 else { throw violation("a fence is left at the end") }
        guard actions.lookAgainAt == nil else { throw violation("a tick is wanted although there is no work") }
    }

    /// Runs until a time.
    package mutating func run(until end: Int64) throws(SimulationViolation) {
        while try step(until: end) {}
        try pass(to: end)
    }

    /// Runs what happens next, unless that is later than `end`; `false` when nothing happens until then.
    private mutating func step(until end: Int64) throws(SimulationViolation) -> Bool {
        var next = Int64.max
        var which = -1
        for index in workers.indices {
            let time = nextTime(of: workers[index])
            if time < next { (next, which) = (time, index) }
        }
        let script = nextScript < world.script.count ? world.script[nextScript].at : .max
        let tick = actions.lookAgainAt?.nanoseconds ?? .max
        let first = min(next, script, tick)
        guard first <= end, first < .max else { return false }
        stepsAtOnce = first > now ? 0 : stepsAtOnce + 1
        guard stepsAtOnce < 10_000 else { throw violation("time stands still") }
        try pass(to: max(now, first))
        if first == script {
            nextScript += 1
            try happen(world.script[nextScript - 1].kind)
        } else if first == next {
            try workerIsDue(which)
        } else {
            try send(.ticked)
        }
        assignCores()
        if checksInvariants { try checkInvariants() }
        return true
    }

    private func nextTime(of worker: SimulatedWorker) -> Int64 {
        switch worker.state {
        case .waking(let until), .blocked(let until): max(now, until)
        case .inJob where worker.hasCore:
            now + (worker.remaining + world.leakDivisor - 1) / world.leakDivisor
        case .inJob: now + worker.remaining
        }
    }

    /// Gives an event to the machine and to the oracle, and starts the workers that are admitted.
    @discardableResult
    mutating func send(_ event: AdmissionEvent) throws(SimulationViolation) -> AdmissionReply {
        events += 1
        let time = SchedulerInstant(nanoseconds: now)
        let reply = machine.apply(event, at: time)
        if let expected = judge?.apply(event, at: now, fence: reply.fence), expected != reply {
            throw violation("on \(event) the oracle says \(expected), the machine \(reply)")
        }
        actions = reply.actions
        var admitted = reply.actions.admit
        while let qosClass = admitted.popHighest() {
            insert(
                SimulatedWorker(
                    home: qosClass, counted: qosClass, state: .waking(until: now + world.wakeDelay)))
        }
        return reply
    }

    func violation(_ rule: String) -> SimulationViolation {
        SimulationViolation(rule: rule, at: now)
    }
}

package import QoSCore
package import QoSTesting

/// A machine, a driver, a kernel and a world in virtual time.
///
/// The driver behaves like a real one, with queues and workers. It tests the published `mustAsk` set before a worker
/// takes a job. It calls the machine only in three cases: the set says so, a worker goes idle, or work arrives that no
/// worker looks for. The kernel is crude: the highest workers get the cores, the others a leak.
package struct AdmissionSimulation {
    package let world: SimulatedWorld
    let parameters: SchedulingParameters
    package var machine: AdmissionMachine
    /// The oracle to compare with, decision by decision; `nil` without one.
    package var judge: (any AdmissionJudge)?
    let checksInvariants: Bool

    package var now: Int64 = 0
    var cores: Int
    var nextScript = 0
    var queues: [JobQueue] = Array(repeating: JobQueue(), count: 5)
    /// The workers from the highest counted class to the lowest, in the order of admission inside a class.
    package var workers: [SimulatedWorker] = []
    var actions = AdmissionActions()

    /// Whether the delay of every job is kept.
    package var keepsDelays = false
    /// The start and the end of each job of the script, in the order of the script; `nil` if they are not kept.
    var outcomes: [(started: Int64?, ended: Int64?)]?
    /// The recorder of the classes' timeline; `nil` without one.
    package var recorder: TimelineRecorder?
    /// Steps since time last passed.
    private var stepsAtOnce = 0
    /// Events of the machine so far.
    package var events = 0
    package var results = SimulationResults()
    var unserved: [Int64] = Array(repeating: 0, count: 5)

    /// The classes for which they and those above them have left a core to others since then.
    var leftBy = Array(repeating: QoSClassSet(), count: 5)
    /// The size of a violation that is overlooked. Tests of the tests make it negative.
    package var slack: Int64 = 0

    /// Makes the run of a world, at its beginning.
    ///
    /// - Parameters:
    ///   - world: The world.
    ///   - judge: The oracle for the machine's answers. Any difference is a violation.
    ///   - checksInvariants: Whether every state is checked, in O(workers).
    package init(_ world: SimulatedWorld, judgedBy judge: (any AdmissionJudge)? = nil, checksInvariants: Bool = true) {
        self.world = world
        let parameters = world.parameters
        self.parameters = parameters
        machine = AdmissionMachine(cores: world.cores, parameters: parameters)
        self.judge = judge
        cores = world.cores
        self.checksInvariants = checksInvariants
    }

    /// Runs the whole script, then until nothing is left to do. Checks that nothing is left over.
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

    /// Runs the next event before `end`; `false` without one.
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

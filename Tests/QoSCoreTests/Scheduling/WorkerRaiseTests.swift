import QoSCore
import Testing

@Suite("The raise of a worker's job")
struct WorkerRaiseTests {
    private static let fence = FenceID(code: 1)

    /// The events of a table, for a worker of the utility class.
    enum Event: Sendable {
        case raised(QoSClass, WorkerRaise.Lifetime, granted: Bool)
        case lowered(QoSClass, granted: Bool)
        case unlocked
        case ended
        case runs
    }

    struct Row: Sendable {
        let state: WorkerRaise
        let event: Event
        var presence = WorkerRaise.Presence.running
        let next: WorkerRaise
        var actions = WorkerRaiseActions()
    }

    private static func happens(
        _ event: Event, _ raise: inout WorkerRaise, own: QoSClass = .utility, _ presence: WorkerRaise.Presence
    ) -> WorkerRaiseActions {
        switch event {
        case .raised(let wanted, let lifetime, let granted):
            raise.raised(to: wanted, for: lifetime, own: own, presence) { _ in granted }
        case .lowered(let needed, let granted):
            raise.lowered(to: needed, own: own, presence) { _ in granted }
        case .unlocked: raise.unlocked(own: own, presence)
        case .ended: raise.ended(own: own, presence)
        case .runs: raise.runs()
        }
    }

    private static let rows: [Row] = [
        // I4 a running job is raised by effects where the kernel allows it, else by a fence.
        Row(
            state: .none, event: .raised(.default, .job, granted: true), next: .effects(.default, .job),
            actions: WorkerRaiseActions(counted: .moved(from: .utility, to: .default), raisedTo: .default)),
        Row(
            state: .none, event: .raised(.default, .job, granted: false), next: .fence(.default, nil, .job),
            actions: WorkerRaiseActions(raisesFence: .default, raisedTo: .default)),
        // A3 a raise ends the wait at a checkpoint.
        Row(
            state: .none, event: .raised(.default, .job, granted: true), presence: .atCheckpoint,
            next: .effects(.default, .job),
            actions: WorkerRaiseActions(
                endsWait: true, counted: .moved(from: .utility, to: .default), raisedTo: .default)),
        // A job that is as high already is left alone; a raise for the job outlasts one for a lock.
        Row(
            state: .effects(.default, .lock), event: .raised(.default, .job, granted: true),
            next: .effects(.default, .job)),
        Row(
            state: .effects(.default, .job), event: .raised(.default, .lock, granted: true),
            next: .effects(.default, .job)),
        Row(
            state: .fence(.userInitiated, fence, .lock), event: .raised(.default, .lock, granted: true),
            next: .fence(.userInitiated, fence, .lock)),
        // A second raise goes further, by the same means or by better ones.
        Row(
            state: .effects(.default, .lock), event: .raised(.userInitiated, .lock, granted: true),
            next: .effects(.userInitiated, .lock),
            actions: WorkerRaiseActions(counted: .moved(from: .default, to: .userInitiated), raisedTo: .userInitiated)),
        Row(
            state: .effects(.default, .job), event: .raised(.userInitiated, .job, granted: false),
            next: .effects(.default, .job)),
        Row(
            state: .fence(.default, fence, .job), event: .raised(.userInitiated, .job, granted: false),
            next: .fence(.userInitiated, nil, .job),
            actions: WorkerRaiseActions(lifted: fence, raisesFence: .userInitiated, raisedTo: .userInitiated)),
        Row(
            state: .fence(.default, fence, .job), event: .raised(.userInitiated, .job, granted: true),
            next: .effects(.userInitiated, .job),
            actions: WorkerRaiseActions(
                lifted: fence, counted: .moved(from: .utility, to: .userInitiated), raisedTo: .userInitiated)),
        // I2 a blocked holder of a lock is raised at once; other blocked work is not.
        Row(state: .none, event: .raised(.default, .job, granted: true), presence: .blocked, next: .none),
        Row(
            state: .none, event: .raised(.default, .lock, granted: true), presence: .blocked,
            next: .effects(.default, .lock),
            actions: WorkerRaiseActions(counted: .blocked(as: .default), raisedTo: .default)),
        Row(
            state: .none, event: .raised(.default, .lock, granted: false), presence: .blocked,
            next: .fence(.default, nil, .lock), actions: WorkerRaiseActions(raisedTo: .default)),
        Row(
            state: .effects(.default, .job), event: .raised(.userInitiated, .lock, granted: false), presence: .blocked,
            next: .effects(.default, .job)),
        // B13 a raise is taken back when its wait is over, but not one for a lock, nor one of a blocked worker.
        Row(
            state: .effects(.userInitiated, .job), event: .lowered(.default, granted: true),
            next: .effects(.default, .job),
            actions: WorkerRaiseActions(counted: .moved(from: .userInitiated, to: .default))),
        Row(
            state: .effects(.userInitiated, .job), event: .lowered(.utility, granted: true), next: .none,
            actions: WorkerRaiseActions(counted: .moved(from: .userInitiated, to: .utility))),
        Row(
            state: .effects(.userInitiated, .job), event: .lowered(.utility, granted: false),
            next: .effects(.userInitiated, .job)),
        Row(
            state: .effects(.default, .job), event: .lowered(.default, granted: true), next: .effects(.default, .job)),
        Row(
            state: .effects(.default, .lock), event: .lowered(.utility, granted: true), next: .effects(.default, .lock)),
        Row(
            state: .effects(.default, .job), event: .lowered(.utility, granted: true), presence: .blocked,
            next: .effects(.default, .job)),
        Row(
            state: .fence(.userInitiated, fence, .job), event: .lowered(.default, granted: false),
            next: .fence(.default, nil, .job), actions: WorkerRaiseActions(lifted: fence, raisesFence: .default)),
        Row(
            state: .fence(.userInitiated, fence, .job), event: .lowered(.utility, granted: false), next: .none,
            actions: WorkerRaiseActions(lifted: fence)),
        // I2 the end of a lock ends a raise for it only.
        Row(
            state: .effects(.default, .lock), event: .unlocked, next: .none,
            actions: WorkerRaiseActions(counted: .moved(from: .default, to: .utility), returnsToClass: true)),
        Row(
            state: .fence(.default, fence, .lock), event: .unlocked, next: .none,
            actions: WorkerRaiseActions(lifted: fence)),
        Row(state: .effects(.default, .job), event: .unlocked, next: .effects(.default, .job)),
        Row(
            state: .effects(.default, .lock), event: .unlocked, presence: .blocked, next: .effects(.default, .lock)),
        // The end of the job ends every raise.
        Row(state: .none, event: .ended, next: .none),
        Row(
            state: .effects(.default, .lock), event: .ended, next: .none,
            actions: WorkerRaiseActions(counted: .moved(from: .default, to: .utility), returnsToClass: true)),
        Row(
            state: .effects(.default, .job), event: .ended, presence: .blocked, next: .none,
            actions: WorkerRaiseActions(counted: .blocked(as: .utility), returnsToClass: true)),
        Row(
            state: .fence(.default, fence, .job), event: .ended, next: .none,
            actions: WorkerRaiseActions(lifted: fence)),
        Row(state: .fence(.default, nil, .job), event: .ended, next: .none),
        // A missing fence goes up when the worker runs.
        Row(
            state: .fence(.default, nil, .lock), event: .runs, next: .fence(.default, nil, .lock),
            actions: WorkerRaiseActions(raisesFence: .default)),
        Row(state: .fence(.default, fence, .job), event: .runs, next: .fence(.default, fence, .job)),
        Row(state: .effects(.default, .job), event: .runs, next: .effects(.default, .job)),
    ]

    @Test("each event has its next state and its actions", arguments: rows)
    func transition(_ row: Row) {
        var raise = row.state
        let actions = Self.happens(row.event, &raise, row.presence)
        #expect(raise == row.next)
        #expect(actions == row.actions)
    }

    @Test("the answer to a fence fills only a missing one")
    func answered() {
        var raise = WorkerRaise.fence(.default, nil, .lock)
        raise.fenceRaised(nil)
        #expect(raise == .fence(.default, nil, .lock))
        raise.fenceRaised(Self.fence)
        #expect(raise == .fence(.default, Self.fence, .lock))
        raise.fenceRaised(FenceID(code: 2))
        #expect(raise == .fence(.default, Self.fence, .lock))
        raise = .effects(.default, .job)
        raise.fenceRaised(Self.fence)
        #expect(raise == .effects(.default, .job))
    }

    // MARK: All worlds

    /// The facts of a worker that the kernel and admission would know.
    struct World: Hashable {
        let own: QoSClass
        var raise = WorkerRaise.none
        var presence = WorkerRaise.Presence.running
        /// The class that counts the worker; `nil` while none does.
        var counted: QoSClass?
        /// The class that counts the blocked worker once it runs again.
        var blockedAs: QoSClass?
        /// The class of the thread's effects.
        var thread: QoSClass
        var fence: FenceID?

        init(own: QoSClass) {
            (self.own, counted, thread) = (own, own, own)
        }

        mutating func carryOut(_ actions: WorkerRaiseActions, fencesAreFree: Bool) {
            if actions.endsWait {
                #expect(presence == .atCheckpoint && counted == nil)
                (presence, counted) = (.running, own)
            }
            if let lifted = actions.lifted {
                #expect(fence == lifted)
                fence = nil
            }
            switch actions.counted {
            case nil: break
            case .moved(let from, let to)?:
                #expect(presence == .running && counted == from && from != to)
                counted = to
            case .blocked(let qosClass)?:
                #expect(presence == .blocked)
                blockedAs = qosClass
            }
            if actions.raisesFence != nil {
                #expect(presence == .running && fence == nil)
                fence = fencesAreFree ? WorkerRaiseTests.fence : nil
                raise.fenceRaised(fence)
            }
            if actions.returnsToClass { thread = own }
        }

        /// Checks that the state and the world say the same.
        func isConsistent() -> Bool {
            let countedThen = raise.countedClass ?? own
            let isCounted =
                switch presence {
                case .running: counted == countedThen && blockedAs == nil
                case .atCheckpoint: counted == nil && raise == .none
                case .blocked: counted == nil && blockedAs == countedThen
                }
            let fenceOfState: FenceID? = if case .fence(_, let fence, _) = raise { fence } else { nil }
            return isCounted && fence == fenceOfState && thread == countedThen && raise.qosClass ?? own >= own
        }

        /// Returns the worlds that one event leads to.
        func next() -> [World] {
            var worlds: [World] = []
            for areFree in [true, false] {
                for event in events() {
                    var world = self
                    let before = world.raise
                    var given: QoSClass?
                    let actions: WorkerRaiseActions
                    switch event {
                    case .raised(let wanted, let lifetime, let granted):
                        actions = world.raise.raised(to: wanted, for: lifetime, own: own, presence) {
                            if granted { given = $0 }
                            return granted
                        }
                        #expect(world.raise.qosClass ?? own >= before.qosClass ?? own, "a raise lowers nothing")
                        #expect(!(before.lifetime == .job && world.raise.lifetime == .lock))
                        if presence != .blocked, granted { #expect(world.raise.qosClass ?? own >= wanted) }
                        #expect((actions.raisedTo != nil) == (world.raise.qosClass != before.qosClass))
                    case .lowered(let needed, let granted):
                        actions = world.raise.lowered(to: needed, own: own, presence) {
                            if granted { given = $0 }
                            return granted
                        }
                        #expect(world.raise.qosClass ?? own <= before.qosClass ?? own, "an end raises nothing")
                        #expect(world.raise.qosClass ?? own >= min(needed, before.qosClass ?? own))
                    case .unlocked: actions = world.raise.unlocked(own: own, presence)
                    case .ended:
                        actions = world.raise.ended(own: own, presence)
                        #expect(world.raise == .none)
                    case .runs: actions = world.raise.runs()
                    }
                    if let given { world.thread = given }
                    world.carryOut(actions, fencesAreFree: areFree)
                    worlds.append(world)
                }
            }
            return worlds + movements()
        }

        private func events() -> [Event] {
            let higher = QoSClass.allCases.filter { $0 > own }
            var events: [Event] = []
            for granted in [true, false] {
                for wanted in higher {
                    events += WorkerRaise.Lifetime.allCases.map { .raised(wanted, $0, granted: granted) }
                }
                events += ([own] + higher).map { .lowered($0, granted: granted) }
            }
            // A job does not end, and gives back no lock, while it waits at a checkpoint. The loop looks for missing
            // fences of running workers only.
            if presence != .atCheckpoint { events += [.unlocked, .ended] }
            if presence == .running { events.append(.runs) }
            return events
        }

        /// The worker blocks and runs again, waits at a checkpoint and is admitted again.
        private func movements() -> [World] {
            var world = self
            switch presence {
            case .running:
                (world.presence, world.counted, world.blockedAs) = (.blocked, nil, raise.countedClass ?? own)
                guard raise == .none else { return [world] }
                var waiting = self
                (waiting.presence, waiting.counted) = (.atCheckpoint, nil)
                return [world, waiting]
            case .atCheckpoint:
                (world.presence, world.counted) = (.running, own)
                return [world]
            case .blocked:
                (world.presence, world.counted, world.blockedAs) = (.running, blockedAs, nil)
                return [true, false].map { areFree in
                    var running = world
                    running.carryOut(running.raise.runs(), fencesAreFree: areFree)
                    return running
                }
            }
        }
    }

    @Test(
        "in every world that can be reached, admission counts the worker once, and every fence and effect has its raise",
        arguments: QoSClass.allCases)
    func worlds(own: QoSClass) {
        var seen: Set = [World(own: own)]
        var open = Array(seen)
        while let world = open.popLast() {
            for next in world.next() where seen.insert(next).inserted {
                #expect(next.isConsistent(), "\(world) led to \(next)")
                open.append(next)
            }
        }
        // Running and blocked without a raise, and at a checkpoint. For each higher class and lifetime: raised by
        // effects, by a fence and by a missing fence, running and blocked.
        #expect(seen.count == 3 + (QoSClass.allCases.count - 1 - own.rank) * 2 * 6)
    }
}

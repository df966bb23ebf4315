import QoSCore
import QoSKernel
import QoSTesting
import Testing

@testable import QoSRuntime

/// Something that is no lock and that threads wait for.
private final class Turn: ThreadWaitTarget {
    let members: [Int]
    let awaitedName = "turn"
    var blockers: [UInt32] { members.compactMap { Model.party($0).threadID } }

    init(_ members: [Int]) {
        self.members = members
    }

    func raised(to level: LevelCode) {}
    func lowered(from level: LevelCode) {}
}

/// A registry whose parties are numbers, driven by one thread; and the rules, written down as slowly as they read.
private struct Model {
    let registry = LockRegistry()
    var holders: [Int: [Int]] = [:]
    var waits: [Int: (resource: Int, own: LevelCode, sequence: Int)] = [:]
    /// The queues of the test, by numbers above all locks: every party in front has to get on.
    var turns: [Int: Turn] = [:]
    private var places: [Int: Int] = [:]
    /// How often in a row each lock passed over the longest waiter.
    private var passed: [Int: Int] = [:]
    private var sequence = 0

    static func party(_ number: Int) -> LockParticipant { .thread(UInt32(number + 1)) }

    func resource(_ number: Int) -> LockResource { .mutex(UInt(number + 1) << 4) }

    func inherited(_ party: Int) -> LevelCode { registry.entry(of: Self.party(party))?.record.inherited ?? .none }

    // MARK: Events

    mutating func acquires(_ party: Int, _ number: Int) {
        holders[number, default: []].append(party)
        registry.withSite(of: resource(number)) { site in
            var present = site.take() ?? LockQueue()
            present.holders.append(Self.party(party))
            site = present
        }
    }

    /// - Returns: the circle that a wait would close, and whether it was told that it might.
    mutating func waits(_ party: Int, at level: LevelCode, for number: Int) -> (LockRegistry.Cycle?, isTold: Bool) {
        let (registry, resource) = (self.registry, self.resource(number))
        var effects = LockEffects()
        let place = registry.withSite(of: resource) { site in
            registry.begin(
                Self.party(party), at: level, for: resource, token: UInt(party), &site!, &effects)
        }
        let isTold = effects.mayCloseCircle
        let circle = registry.refuse(Self.party(party)) { _ in
            var undone = LockEffects()
            registry.withSite(of: resource) { site in
                registry.withdraw(Self.party(party), at: place, from: resource, &site!, &undone)
            }
            registry.follow(&undone)
            return true
        }
        if let circle { return (circle, isTold) }
        registry.follow(&effects)
        sequence += 1
        waits[party] = (number, level, sequence)
        places[party] = place
        return (nil, isTold)
    }

    mutating func stops(_ party: Int) {
        let (registry, resource) = (self.registry, self.resource(waits[party]!.resource))
        let place = places[party]!
        var effects = LockEffects()
        registry.withSite(of: resource) { site in
            registry.withdraw(Self.party(party), at: place, from: resource, &site!, &effects)
        }
        registry.follow(&effects)
        waits[party] = nil
    }

    mutating func raises(_ party: Int, to level: LevelCode) {
        let (registry, resource) = (self.registry, self.resource(waits[party]!.resource))
        let place = places[party]!
        var effects = LockEffects()
        registry.withSite(of: resource) { site in
            registry.raised(Self.party(party), at: place, to: level, for: resource, &site!, &effects)
        }
        registry.follow(&effects)
        waits[party]!.own = max(waits[party]!.own, level)
    }

    /// - Returns: the circle that a wait for something that is no lock would close.
    mutating func awaits(_ party: Int, _ number: Int) -> LockRegistry.Cycle? {
        let (registry, id, turn) = (self.registry, Self.party(party), turns[number] ?? Turn([]))
        _ = registry.begins(id, at: .none, for: .awaited(UInt32(party + 1))) {
            $0.awaiting = ThreadTargetWait(turn, ThreadWait())
        }
        let circle = registry.refuse(id) { _ in
            Self.ends(id, registry)
            return true
        }
        if circle == nil { waits[party] = (number, .none, 0) }
        return circle
    }

    mutating func stopsAwaiting(_ party: Int) {
        Self.ends(Self.party(party), registry)
        waits[party] = nil
    }

    private static func ends(_ party: LockParticipant, _ registry: LockRegistry) {
        registry.with(party) { entry in
            entry.record.stopsWaiting()
            entry.awaiting = nil
        }
    }

    /// Whether a party could never go on if it waited, by going round until nothing changes; `awaited` are the members
    /// of turns as they were when each wait began.
    func isHopeless(_ party: Int, waitingFor number: Int, _ awaited: [Int: [Int]], parties: Int) -> Bool {
        var goesOn: Set<Int> = []
        while true {
            let more = (0..<parties).filter { one in
                guard !goesOn.contains(one) else { return false }
                guard let resource = one == party ? number : waits[one]?.resource else { return true }
                if let holders = holders[resource], !holders.isEmpty {
                    return holders.contains(where: goesOn.contains)
                }
                let members = one == party ? turns[number]?.members : awaited[one]
                return (members ?? []).allSatisfy(goesOn.contains)
            }
            if more.isEmpty { return !goesOn.contains(party) }
            goesOn.formUnion(more)
        }
    }

    /// - Returns: the party that has it now.
    mutating func givesBack(_ party: Int, _ number: Int) -> Int? {
        let (registry, resource) = (self.registry, self.resource(number))
        var effects = LockEffects()
        let token = registry.withSite(of: resource) { site -> UInt? in
            guard site!.line.count > 0 else {
                site!.holders.remove(Self.party(party))
                return nil
            }
            return registry.handOver(
                resource, from: Self.party(party), &site!, &effects,
                newHolder: { (Self.party(Int($0)), true, .none) })
        }
        registry.follow(&effects)
        holders[number]!.remove(at: holders[number]!.firstIndex(of: party)!)
        guard let next = token.map({ Int($0) }) else { return nil }
        waits[next] = nil
        holders[number]!.append(next)
        return next
    }

    // MARK: Rules

    /// The least fixed point, by going round until nothing changes.
    var expected: [Int: LevelCode] {
        var levels: [Int: LevelCode] = [:]
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for (waiter, wait) in waits {
                let level = max(wait.own, levels[waiter] ?? LevelCode.none)
                for holder in holders[wait.resource] ?? [] where (levels[holder] ?? LevelCode.none) < level {
                    levels[holder] = level
                    hasChanged = true
                }
            }
        }
        return levels
    }

    /// Whether a party could never go on if it waited: no running party can be reached.
    func isHopeless(_ party: Int, waitingFor resource: Int) -> Bool {
        var reached: Set<Int> = []
        var pending = holders[resource] ?? []
        if pending.isEmpty { return false }
        while let holder = pending.popLast() {
            guard holder != party, reached.insert(holder).inserted else { continue }
            guard let wait = waits[holder], let further = holders[wait.resource], !further.isEmpty else { return false }
            pending += further
        }
        return true
    }

    /// - Returns: the waiter that gets a lock now: the highest, or in one of sixteen turns the longest one.
    mutating func turn(for resource: Int) -> Int? {
        let highest = highest(for: resource)
        let longest = waits.filter { $0.value.resource == resource }.min { $0.value.sequence < $1.value.sequence }?.key
        passed[resource] = highest == longest ? 0 : (passed[resource] ?? 0) + 1
        guard passed[resource] == 16 else { return highest }
        passed[resource] = 0
        return longest
    }

    private func highest(for resource: Int) -> Int? {
        let inherited = self.expected
        let those = waits.filter { $0.value.resource == resource }
        return those.keys.min { left, right in
            let levels = [left, right].map { max(those[$0]!.own, inherited[$0] ?? LevelCode.none) }
            return levels[0] == levels[1] ? those[left]!.sequence < those[right]!.sequence : levels[0] > levels[1]
        }
    }
}

@Suite("The registry of locks, by numbers", .timeLimit(.minutes(5)))
struct LockRegistryTests {
    private func level(_ generator: inout SeededGenerator) -> LevelCode {
        LevelCode(rawValue: UInt8([0, 1, 16, 17, 48, 64, 79, 80].randomElement(using: &generator)!))
    }

    @Test(
        "I2 I5 inherited levels, order and refusals of random waits are those of the rules",
        arguments: 0..<60, [1, 2])
    func random(seed: UInt64, shares: Int) throws {
        var generator = SeededGenerator(seed: seed)
        let (parties, resources) = (Int.random(in: 2...12, using: &generator), Int.random(in: 1...6, using: &generator))
        var model = Model()
        for step in 0..<300 {
            let party = Int.random(in: 0..<parties, using: &generator)
            let resource = Int.random(in: 0..<resources, using: &generator)
            let place = "seed \(seed), step \(step)"
            if model.waits[party] != nil {
                if Bool.random(using: &generator) {
                    model.raises(party, to: level(&generator))
                } else {
                    model.stops(party)
                }
            } else if model.holders[resource]?.contains(party) == true {
                let next = model.turn(for: resource)
                let found = model.givesBack(party, resource)
                if shares == 1 { #expect(found == next, "\(place)") }
            } else if (model.holders[resource]?.count ?? 0) < shares {
                model.acquires(party, resource)
            } else {
                let isHopeless = model.isHopeless(party, waitingFor: resource)
                let (circle, isTold) = model.waits(party, at: level(&generator), for: resource)
                #expect((circle != nil) == isHopeless, "\(place)")
                #expect(isTold || !isHopeless, "\(place)")
                for (link, next) in zip(circle?.links ?? [], circle?.links.dropFirst() ?? []) {
                    #expect(link.awaited == next.waiter)
                }
            }
            let expected = model.expected
            for party in 0..<parties {
                let (found, demanded) = (model.inherited(party), expected[party] ?? LevelCode.none)
                // In a circle over shares, which is no deadlock, the members may keep one another up.
                #expect(shares == 1 ? found == demanded : found >= demanded, "\(place)")
            }
        }
        for party in model.waits.keys.sorted() { model.stops(party) }
        for party in 0..<parties { #expect(model.inherited(party) == .none) }
    }

    @Test(
        "I5 a wait is refused exactly when nobody could ever end it: locks, shares and turns of queues",
        arguments: 0..<80)
    func turns(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let (parties, locks, queues) = (
            Int.random(in: 2...10, using: &generator), Int.random(in: 1...5, using: &generator),
            Int.random(in: 1...5, using: &generator)
        )
        var model = Model()
        /// Whom each waiter found before what it waits for.
        var awaited: [Int: [Int]] = [:]
        var refusals = 0
        for step in 0..<400 {
            let party = Int.random(in: 0..<parties, using: &generator)
            let lock = Int.random(in: 0..<locks, using: &generator)
            let queue = locks + Int.random(in: 0..<queues, using: &generator)
            let choice = Int.random(in: 0..<5, using: &generator)
            if choice == 0 {
                let members = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                    Int.random(in: 0..<parties, using: &generator)
                }
                model.turns[queue] = Turn(members)
            } else if let wait = model.waits[party] {
                guard choice == 1 else { continue }
                if wait.resource < locks { model.stops(party) } else { model.stopsAwaiting(party) }
            } else if choice == 1, model.holders[lock]?.contains(party) == true {
                _ = model.givesBack(party, lock)
            } else if choice == 2, (model.holders[lock]?.count ?? 0) < 1 + lock % 2 {
                if model.waits.values.contains(where: { $0.resource == lock }) { continue }
                model.acquires(party, lock)
            } else {
                let isLock = Bool.random(using: &generator) && model.holders[lock]?.isEmpty == false
                let resource = isLock ? lock : queue
                let isHopeless = model.isHopeless(party, waitingFor: resource, awaited, parties: parties)
                let circle = isLock ? model.waits(party, at: .none, for: lock).0 : model.awaits(party, queue)
                #expect((circle != nil) == isHopeless, "seed \(seed), step \(step)")
                guard let circle else {
                    awaited[party] = model.turns[queue]?.members
                    continue
                }
                refusals += 1
                #expect(circle.links.first?.waiter == Model.party(party))
                for (link, next) in zip(circle.links, circle.links.dropFirst()) {
                    #expect(link.awaited == next.waiter)
                }
                // The last one's way leads to a member again.
                #expect(circle.links.contains { $0.waiter == circle.links.last?.awaited })
            }
        }
        #expect(refusals > 0, "seed \(seed)")
    }

    @Test("I5 a thread that is awake within its wait goes on; it finds the circle that was passed over when it sleeps")
    func awake() {
        let (registry, parties) = (LockRegistry(), (0..<2).map(Model.party))
        let resources = (0..<2).map { LockResource.mutex(UInt($0 + 1) << 4) }
        for number in 0..<2 { registry.withSite(of: resources[number]) { $0 = LockQueue(holders: [parties[number]]) } }
        var effects = LockEffects()
        for number in 0..<2 {
            registry.withSite(of: resources[1 - number]) { site in
                _ = registry.begin(
                    parties[number], at: .none, for: resources[1 - number], token: 1, isAwake: number == 0, &site!,
                    &effects)
            }
        }
        let passedOver = registry.refuse(parties[1]) { _ in true }
        #expect(passedOver == nil)
        #expect(registry.fallsAsleep(parties[0], for: resources[1]))
        let found = registry.refuse(parties[0]) { _ in true }
        #expect(found?.links.map(\.waiter) == parties)
        #expect(!registry.fallsAsleep(parties[0], for: resources[1]))
    }

    @Test("I2 a share among very many is given back without a search through all", .timeLimit(.minutes(1)))
    func manyShares() {
        var site = LockQueue()
        let parties = (0..<300_000).map(Model.party)
        for party in parties { site.holders.append(party) }
        // In a list each of them would be the last.
        for party in parties.reversed() { site.holders.remove(party) }
        #expect(site.holders.isEmpty)
    }

    @Test("I2 a raise goes along a chain and ends with the wait that caused it")
    func chain() {
        var model = Model()
        for number in 0..<20 { model.acquires(number, number) }
        for number in 1..<20 { #expect(model.waits(number, at: LevelCode(.background), for: number - 1).0 == nil) }
        #expect(model.waits(20, at: LevelCode(.userInteractive), for: 19).0 == nil)
        #expect((0..<20).allSatisfy { model.inherited($0) == LevelCode(.userInteractive) })
        model.stops(20)
        #expect((0..<19).allSatisfy { model.inherited($0) == LevelCode(.background) })
        #expect(model.inherited(19) == .none)
    }

    @Test("I1 I3 a raise of a waiting thread's item lasts when a waiter of the same level leaves the thread")
    func raiseBesideWaiter() {
        var model = Model()
        for number in 0..<2 { model.acquires(number, number) }
        #expect(model.waits(1, at: LevelCode(.background), for: 0).0 == nil)
        #expect(model.waits(2, at: LevelCode(.userInteractive), for: 1).0 == nil)
        model.registry.raised(thread: Model.party(1).threadID ?? 0, to: .userInteractive)
        model.stops(2)
        #expect(model.inherited(1) == .none)
        #expect(model.inherited(0) == LevelCode(.userInteractive))
    }

    @Test("I2 a chain longer than the limit is raised up to there, and says so", arguments: [63, 64, 65, 80])
    func depth(length: Int) {
        let registry = LockRegistry()
        func resource(_ number: Int) -> LockResource { .mutex(UInt(number + 1) << 4) }
        var last = LockEffects()
        for number in 0..<length {
            registry.withSite(of: resource(number)) { $0 = LockQueue(holders: [Model.party(number)]) }
        }
        for number in 1...length {
            last = LockEffects()
            let level = LevelCode(number == length ? .userInteractive : .background)
            registry.withSite(of: resource(number - 1)) { site in
                _ = registry.begin(
                    Model.party(number), at: level, for: resource(number - 1), token: 0, &site!, &last)
            }
            registry.follow(&last)
        }
        #expect(last.isBeyondDepth == (length > LockRegistry.depthLimit))
        #expect(last.raises.count == min(length, LockRegistry.depthLimit))
    }
}

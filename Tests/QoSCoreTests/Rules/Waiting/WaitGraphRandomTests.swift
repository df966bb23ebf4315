import QoSCore
import QoSTesting
import Testing

@Suite("Random graphs of waits against the rules")
struct WaitGraphRandomTests {
    /// The rules, written down as slowly as they read.
    private struct Oracle {
        var holders: [Int: [Int]] = [:]
        var waits: [Int: (resource: Int, own: QoSLevel?, sequence: Int)] = [:]
        var sequence = 0

        /// The least fixed point, by going round until nothing changes.
        var inherited: [Int: QoSLevel] {
            var levels: [Int: QoSLevel] = [:]
            var hasChanged = true
            while hasChanged {
                hasChanged = false
                for (waiter, wait) in waits {
                    guard let level = QoSLevel.higher(wait.own, levels[waiter]) else { continue }
                    for holder in holders[wait.resource] ?? [] where levels[holder].map({ $0 < level }) ?? true {
                        levels[holder] = level
                        hasChanged = true
                    }
                }
            }
            return levels
        }

        /// Whether a party could never go on if it waited: nobody who runs can be reached.
        func isHopeless(_ party: Int, waitingFor resource: Int) -> Bool {
            var reached: Set<Int> = []
            var pending = holders[resource] ?? []
            if pending.isEmpty { return false }
            while let holder = pending.popLast() {
                guard holder != party, reached.insert(holder).inserted else { continue }
                guard let wait = waits[holder] else { return false }
                let further = holders[wait.resource] ?? []
                if further.isEmpty { return false }
                pending += further
            }
            return true
        }

        func next(for resource: Int) -> Int? {
            let inherited = inherited
            func key(_ party: Int) -> (Int, Int) {
                let wait = waits[party]!
                let level = QoSLevel.higher(wait.own, inherited[party])
                let rank = level.map { ($0.qosClass.rank + 1) * 16 + $0.relativePriority.rawValue } ?? -100
                return (-rank, wait.sequence)
            }
            return waits.filter { $0.value.resource == resource }.keys.min { key($0) < key($1) }
        }
    }

    @Test("I2 I5 inherited levels, order and refusals are those of the rules", arguments: 0..<60)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (parties, resources) = (Int.random(in: 2...12, using: &generator), Int.random(in: 1...6, using: &generator))
        var graph = WaitGraph<Int, Int>(depthLimit: .max)
        var oracle = Oracle()
        var told: [Int: QoSLevel] = [:]
        func tell(_ raises: [WaitRaise<Int>]) {
            for raise in raises { told[raise.party] = raise.level }
        }
        func level() -> QoSLevel? {
            guard let qosClass = QoSClass(rank: Int.random(in: -1...4, using: &generator)) else { return nil }
            return QoSLevel(
                qosClass, relativePriority: RelativePriority(clamping: -Int.random(in: 0...2, using: &generator)))
        }
        for step in 0..<300 {
            let party = Int.random(in: 0..<parties, using: &generator)
            let resource = Int.random(in: 0..<resources, using: &generator)
            if oracle.waits[party] != nil {
                if Bool.random(using: &generator) {
                    let own = level()
                    oracle.waits[party]?.own = own
                    tell(graph.levelChanged(party, to: own))
                } else {
                    oracle.waits[party] = nil
                    tell(graph.stoppedWaiting(party))
                }
            } else if let place = oracle.holders[resource]?.firstIndex(of: party) {
                let next = oracle.next(for: resource)
                oracle.holders[resource]?.remove(at: place)
                let (found, raises) = graph.handedOver(resource, from: party)
                #expect(found == next, "seed \(seed), step \(step)")
                tell(raises)
                if let next {
                    oracle.waits[next] = nil
                    oracle.holders[resource, default: []].append(next)
                }
            } else if (oracle.holders[resource]?.count ?? 0) < 1 + resource % 2 {
                oracle.holders[resource, default: []].append(party)
                tell(graph.acquired(party, resource))
            } else {
                let own = level()
                let isHopeless = oracle.isHopeless(party, waitingFor: resource)
                do {
                    tell(try graph.waits(party, at: own, for: resource).raises)
                    #expect(!isHopeless, "seed \(seed), step \(step)")
                    oracle.sequence += 1
                    oracle.waits[party] = (resource, own, oracle.sequence)
                } catch {
                    #expect(isHopeless, "seed \(seed), step \(step): \(error)")
                    for (link, next) in zip(error.links, error.links.dropFirst()) {
                        #expect(link.awaited == next.waiter)
                    }
                }
            }
            let expected = oracle.inherited
            #expect(told == expected, "seed \(seed), step \(step)")
            for party in 0..<parties { #expect(graph.inheritedLevel(of: party) == expected[party]) }
        }
    }
}

import QoSCore
import QoSRuntimeTestSupport
import Testing

@testable import QoSRuntime

/// The tables of `Docs/Inside/Protocols/wake-park.md`, each cell.
@Suite("The states of a worker", .timeLimit(.minutes(5)))
struct WorkerStateTests {
    private static let standings: [WorkerStanding] =
        [.counted, .idle, .atCheckpoint] + QoSClass.allCases.map(WorkerStanding.blocked(as:))

    /// The standings after an event, for `counted`, `idle`, `atCheckpoint`, and one blocked as `utility`.
    private static let standingTable: [(WorkerStanding.Event, [WorkerStanding?])] = [
        (.parks, [.idle, nil, nil, nil]),
        (.wakes, [nil, .counted, nil, nil]),
        (.waitsAtCheckpoint, [.atCheckpoint, nil, nil, nil]),
        (.leavesCheckpoint, [nil, nil, .counted, nil]),
        (.blocks(.default), [.blocked(as: .default), nil, nil, nil]),
        (.changesClass(.userInitiated), [nil, nil, nil, .blocked(as: .userInitiated)]),
        (.runs, [nil, nil, nil, .counted]),
    ]

    @Test("each event applies to the standings of its row, and changes no other", arguments: standingTable.indices)
    func standing(row: Int) {
        let (event, after) = Self.standingTable[row]
        let before: [WorkerStanding] = [.counted, .idle, .atCheckpoint, .blocked(as: .utility)]
        for (standing, expected) in zip(before, after) { #expect(standing.after(event) == expected, "\(standing)") }
    }

    @Test("all standings differ, and only blocked ones name a class")
    func values() {
        #expect(Set(Self.standings.map(\.rawValue)).count == Self.standings.count)
        for qosClass in QoSClass.allCases { #expect(WorkerStanding.blocked(as: qosClass).blockedAs == qosClass) }
        #expect(Self.standings.map(\.isBlocked) == [false, false, false] + QoSClass.allCases.map { _ in true })
        #expect(Self.standings.prefix(3).allSatisfy { $0.blockedAs == nil })
    }

    /// The lives after an event, for `vacant`, `open`, `retiring` and `left`.
    private static let lifeTable: [(WorkerLife.Event, [WorkerLife?])] = [
        (.starts, [.open, nil, nil, .open]),
        (.startFails, [nil, .vacant, nil, nil]),
        (.retires, [nil, .retiring, nil, nil]),
        (.staysOn, [nil, nil, .open, nil]),
        (.ends, [nil, .left, .left, nil]),
    ]

    @Test("each event of a thread's life applies to the states of its row", arguments: lifeTable.indices)
    func life(row: Int) {
        let (event, after) = Self.lifeTable[row]
        let before: [WorkerLife] = [.vacant, .open, .retiring, .left]
        for (life, expected) in zip(before, after) { #expect(life.after(event) == expected, "\(life)") }
    }

    @Test("a worker applies an event once, and refuses the next of its kind")
    func worker() async throws {
        try await withScheduler { scheduler in
            // No job has come, so no thread of the pool has started.
            let worker = scheduler.core.group.pools.at(QoSClass.background.rank).value.workers.at(0)
            let standing = [
                worker.value.change(.parks), worker.value.change(.parks), worker.value.change(.blocks(.utility)),
            ]
            #expect(standing == [true, false, false])
            #expect(worker.value.isParked && !worker.value.isBlocked)
            worker.value.change(.wakes)
            let life = [worker.value.change(.starts), worker.value.isOpen, worker.value.change(.starts)]
            #expect(life == [true, true, false])
            worker.value.change(.startFails)
            #expect(!worker.value.isOpen && !worker.value.hasLeft)
        }
    }
}

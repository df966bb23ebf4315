import QoSCore
import QoSKernel
import QoSTesting
import Synchronization
import Testing

@testable import QoSRuntime

/// The bindings of the threads of some seats, and their invariants.
private final class Bindings: Sendable {
    private let seats: Lock<[Int: Int]>
    let changes = Atomic<Int>(0)

    init() { seats = Lock([:]) }

    func bind(_ seat: Int, _ processor: Int?) {
        changes.wrappingAdd(1, ordering: .relaxed)
        seats.withLock { $0[seat] = processor }
    }

    subscript(seat: Int) -> Int? { seats.withLock { $0[seat] } }
}

/// Returns the fault of a placement in which nothing changes at this moment; `nil` without one.
private func problem(
    in placement: borrowing Placement, awake: Set<Int>, processors: Set<Int>, seats: Int, leavesOthers: Bool = false,
    _ bindings: Bindings
) -> String? {
    let places = Dictionary(uniqueKeysWithValues: (0..<seats).map { ($0, placement.processor(of: $0)) })
    let taken = places.values.compactMap(\.self)
    if Set(taken).count != taken.count { return "two workers have one processor: \(places)" }
    for (seat, place) in places {
        if let place {
            if !awake.contains(seat) { return "a worker that sleeps has processor \(place)" }
            if !processors.contains(place) { return "a worker has processor \(place), which is not used" }
            if bindings[seat] != place { return "seat \(seat) is bound to another processor than \(place)" }
        } else if awake.contains(seat), taken.count < processors.count {
            return "a worker has no processor although one is free: \(places)"
        } else if awake.contains(seat), leavesOthers, let bound = bindings[seat] {
            return "seat \(seat) stays bound to \(bound), which another worker has, although there are other processors"
        }
    }
    return nil
}

@Suite("Placement of the high workers")
struct PlacementTests {
    @Test(
        "no two workers that are awake have one processor while another is free, whatever comes and goes",
        arguments: 0..<40 as Range<UInt64>)
    func randomWorlds(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (seats, most) = (
            [3, 4, 8, 70, 256].randomElement(using: &random) ?? 4,
            [1, 2, 3, 64, 130].randomElement(using: &random) ?? 2
        )
        let placement = Placement(seats: seats)
        let bindings = Bindings()
        var processors = Set(0..<most)
        var awake: Set<Int> = []
        placement.use(CPUSet(processors), bind: bindings.bind)
        for step in 0..<600 {
            let seat = Int.random(in: 0..<seats, using: &random)
            switch Int.random(in: 0..<60, using: &random) {
            case 0:
                let rest = processors.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
                processors = rest.isEmpty ? Set(0..<most) : rest
                placement.use(
                    CPUSet(processors), leavesOthers: processors.count < most, anew: Bool.random(using: &random),
                    bind: bindings.bind)
            case 1: placement.avoid(Bool.random(using: &random) ? processors.randomElement(using: &random) : nil)
            case 2..<31:
                awake.insert(seat)
                let spared = Bool.random(using: &random) ? Int.random(in: 0..<most, using: &random) : nil
                placement.wake(seat, sparing: spared, bind: bindings.bind)
            default:
                awake.remove(seat)
                placement.sleep(seat, bind: bindings.bind)
            }
            let problem = problem(
                in: placement, awake: awake, processors: processors, seats: seats,
                leavesOthers: processors.count < most, bindings)
            if let problem {
                Issue.record("seed \(seed), step \(step): \(problem)")
                return
            }
        }
    }

    @Test("a worker that wakes again gets its processor again, without being bound anew")
    func staysWhereItWas() {
        let placement = Placement(seats: 4)
        let bindings = Bindings()
        placement.use(CPUSet([0, 1]), bind: bindings.bind)
        for seat in [0, 1] { placement.wake(seat, bind: bindings.bind) }
        let first = [placement.processor(of: 0), placement.processor(of: 1)]
        for _ in 0..<10 {
            for seat in [0, 1] { placement.sleep(seat, bind: bindings.bind) }
            for seat in [1, 0] { placement.wake(seat, bind: bindings.bind) }
        }
        #expect(first == [placement.processor(of: 0), placement.processor(of: 1)])
        #expect(bindings.changes.load(ordering: .relaxed) == 2)
    }

    @Test("a worker leaves the spared processor to the waking thread, unless only the lent one or none is free besides")
    func sparesTheWaking() {
        let placement = Placement(seats: 3)
        let bindings = Bindings()
        placement.use(CPUSet([0, 1, 2]), bind: bindings.bind)
        placement.wake(0, bind: bindings.bind)
        let last = placement.lastProcessor(of: 0)
        #expect(last == 0)
        placement.sleep(0, bind: bindings.bind)
        placement.wake(0, sparing: 0, bind: bindings.bind)
        #expect(placement.processor(of: 0) == 1)
        placement.wake(1, sparing: 0, bind: bindings.bind)
        #expect(placement.processor(of: 1) == 2)
        placement.wake(2, sparing: 0, bind: bindings.bind)
        #expect(placement.processor(of: 2) == 0)
        for seat in 0..<3 { placement.sleep(seat, bind: bindings.bind) }
        placement.avoid(2)
        placement.wake(0, sparing: 1, bind: bindings.bind)
        #expect(placement.processor(of: 0) == 0)
        placement.wake(1, sparing: 1, bind: bindings.bind)
        #expect(placement.processor(of: 1) == 1)
        placement.wake(2, sparing: 2, bind: bindings.bind)
        #expect(placement.processor(of: 2) == 2)
    }

    @Test("a worker of one class that goes to sleep leaves its processor to one of the other that has none")
    func handsOver() {
        let placement = Placement(seats: 3)
        let bindings = Bindings()
        placement.use(CPUSet([0, 1]), bind: bindings.bind)
        for seat in 0..<3 { placement.wake(seat, bind: bindings.bind) }
        #expect(placement.processor(of: 2) == nil)
        #expect(placement.shortage == 1)
        let left = placement.processor(of: 1)
        placement.sleep(1, bind: bindings.bind)
        #expect(placement.processor(of: 2) == left)
        #expect(bindings[2] == left)
    }

    @Test("a worker that finds no processor may run on one that placement leaves to others")
    func roams() {
        let placement = Placement(seats: 2)
        let bindings = Bindings()
        placement.use(CPUSet([0, 1]), bind: bindings.bind)
        for seat in [0, 1] { placement.wake(seat, bind: bindings.bind) }
        let seatOfFirst = placement.processor(of: 0) == 0 ? 0 : 1
        placement.use(CPUSet([1]), leavesOthers: true, bind: bindings.bind)
        #expect(bindings[seatOfFirst] == nil)
        // It was bound to the second processor before, and finds it taken when it wakes again.
        placement.sleep(1 - seatOfFirst, bind: bindings.bind)
        #expect(bindings[seatOfFirst] == 1)
        placement.sleep(seatOfFirst, bind: bindings.bind)
        placement.wake(1 - seatOfFirst, bind: bindings.bind)
        placement.wake(seatOfFirst, bind: bindings.bind)
        #expect(placement.processor(of: seatOfFirst) == nil)
        #expect(bindings[seatOfFirst] == nil)
        placement.use(CPUSet([0, 1]), bind: bindings.bind)
        #expect(bindings[seatOfFirst] == 0)
    }

    @Test("the processor that is left to lower classes is taken last")
    func avoidsWhatIsLent() {
        let placement = Placement(seats: 2)
        let bindings = Bindings()
        placement.use(CPUSet([0, 1]), bind: bindings.bind)
        placement.wake(0, bind: bindings.bind)
        placement.sleep(0, bind: bindings.bind)
        placement.avoid(0)
        for seat in [0, 1] { placement.wake(seat, bind: bindings.bind) }
        #expect(placement.processor(of: 0) == 1)
        #expect(placement.processor(of: 1) == 0)
    }

    @Test("a lent processor goes to the starving classes and those between, and the classes below leave it")
    func lends() {
        let lending = Lending(starving: [QoSClassSet(.utility)])
        let places = [QoSClass.default, .utility, .background].map { qosClass in
            [false, true].map { lending.place(rank: qosClass.rank, isParked: $0) }
        }
        #expect(places == [[.lent, .anywhere], [.lent, .lent], [.others, .anywhere]])
        // The window is over: nobody is bound to the processor.
        let late = Lending(starving: [])
        #expect(late.place(rank: QoSClass.default.rank, isParked: false) == .anywhere)
    }

    @Test("without processors nobody is bound, and those that were are let go")
    func offAndOn() {
        let placement = Placement(seats: 2)
        let bindings = Bindings()
        for seat in [0, 1] { placement.wake(seat, bind: bindings.bind) }
        #expect(bindings.changes.load(ordering: .relaxed) == 0)
        placement.sleep(0, bind: bindings.bind)
        placement.use(CPUSet([0, 1]), bind: bindings.bind)
        placement.wake(0, bind: bindings.bind)
        #expect(bindings[0] == 0)
        placement.use(CPUSet([]), bind: bindings.bind)
        #expect(bindings[0] == nil)
        #expect(placement.processor(of: 0) == nil)
    }

    @Test(
        "threads that come, go and change the processors at once leave nothing wrong behind", .timeLimit(.minutes(5)),
        arguments: [1, 2, 5])
    func atOnce(_ most: Int) async {
        let (seats, threads, rounds) = (6, 3, 20_000)
        let shared = SharedPlacement(seats: seats)
        let bindings = Bindings()
        shared.placement.use(CPUSet(0..<most), bind: bindings.bind)
        await withTaskGroup { group in
            for thread in 0..<threads {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(thread))
                    for _ in 0..<rounds {
                        // Each seat is woken and put to sleep by one thread; bound by all.
                        let seat = Int.random(in: 0..<seats / threads, using: &random) * threads + thread
                        if Bool.random(using: &random) {
                            shared.placement.wake(seat, bind: bindings.bind)
                        } else {
                            shared.placement.sleep(seat, bind: bindings.bind)
                        }
                    }
                    for seat in stride(from: thread, to: seats, by: threads) {
                        shared.placement.wake(seat, bind: bindings.bind)
                    }
                }
            }
            group.addTask {
                for round in 0..<500 {
                    let used = round % most + 1
                    shared.placement.use(CPUSet(0..<used), leavesOthers: used < most, bind: bindings.bind)
                }
                shared.placement.use(CPUSet(0..<most), bind: bindings.bind)
            }
        }
        let found = problem(
            in: shared.placement, awake: Set(0..<seats), processors: Set(0..<most), seats: seats, bindings)
        #expect(found == nil)
        // A record of a binding that does not hold would leave a seeker bound, or a worker unbound.
        shared.placement.use(CPUSet([0]), leavesOthers: true, bind: bindings.bind)
        let foundLater = problem(
            in: shared.placement, awake: Set(0..<seats), processors: [0], seats: seats, leavesOthers: true, bindings)
        #expect(foundLater == nil)
    }
}

private final class SharedPlacement: Sendable {
    let placement: Placement

    init(seats: Int) { placement = Placement(seats: seats) }
}

import QoSCore
import QoSTesting
import QoSWorkloads
import Testing

@Suite("Leases as values")
struct LeaseTests {
    private static let duration = Duration.seconds(30)
    private static let lease = WorkloadLease(item: WorkloadItemID(rawValue: 1), fence: 1)

    @Test("a lease is renewed three times in its duration, and cut off at four fifths without a renewal")
    func book() {
        var book = LeaseBook(duration: Self.duration)
        book.leased(Self.lease, begin: .zero)
        #expect(book.next == .seconds(10))
        // One renewal at a time; while it goes on, only the cutoff is near.
        let first = [9, 10, 11].map { book.renewalsDue(at: .seconds($0)) }
        #expect(first == [[], [Self.lease], []])
        #expect(book.next == .seconds(24))
        book.renewalEnded(Self.lease, succeeded: true, at: .seconds(13))
        // Valid from the begin of the renewal, not from its end.
        #expect(book.next == .seconds(20))
        let second = book.renewalsDue(at: .seconds(20))
        #expect(second == [Self.lease])
        book.renewalEnded(Self.lease, succeeded: false, at: .seconds(21))
        let cutoffs = [33, 34, 35].map { book.cutoffs(at: .seconds($0)) }
        #expect(cutoffs == [[], [Self.lease], []])
        #expect(book.next == nil)
    }

    @Test("a lease that stands still for its duration is expired, and one that beats is not")
    func watch() {
        func sighting(_ beat: UInt64) -> LeaseSighting { LeaseSighting(lease: Self.lease, beat: beat, host: "h") }
        var watch = LeaseWatch(duration: Self.duration)
        let isDue = watch.isLookDue(at: .zero)
        #expect(isDue)
        let looks: [(beat: UInt64?, second: Int64, expires: Bool)] = [
            (0, 0, false), (1, 15, false), (1, 44, false), (1, 45, true), (nil, 60, false),
        ]
        for look in looks {
            let seen = look.beat.map { [sighting($0)] } ?? []
            let lost = watch.looked(seen, at: .seconds(look.second)) { _ in false }
            #expect(lost.map(\.sighting) == (look.expires ? seen : []), "at \(look.second) s")
            #expect(lost.allSatisfy { $0.loss == .expired })
            if look.second == 0 { #expect(watch.nextLook == .seconds(15)) }
        }
        #expect(watch.nextLook == nil)
    }

    @Test("a lease of a process that is gone is lost at the first look, and others are not")
    func processes() {
        var watch = LeaseWatch(duration: Self.duration)
        let sightings = [("gone", 1), ("alive", 2), (nil, 3), ("gone", 4)].map { process, number in
            LeaseSighting(
                lease: WorkloadLease(item: WorkloadItemID(rawValue: number), fence: 1), beat: 0, host: "h",
                process: process)
        }
        var asked: [String] = []
        let lost = watch.looked(sightings, at: .zero) { process in
            asked.append(process)
            return process == "gone"
        }
        #expect(lost.map(\.sighting.lease.item.rawValue) == [1, 4])
        #expect(lost.allSatisfy { $0.loss == .processEnded })
        #expect(asked == ["gone", "alive"], "a process is asked about once, and a lease without one never")
    }

    @Test("a change soon after a look leads to one look later")
    func skipped() {
        var watch = LeaseWatch(duration: Self.duration)
        _ = watch.looked([], at: .zero) { _ in false }
        let isDue = watch.isLookDue(at: .seconds(1))
        #expect(!isDue)
        #expect(watch.nextLook == .milliseconds(7500))
        let isDueLater = watch.isLookDue(at: .milliseconds(7500))
        #expect(isDueLater)
    }

    /// A holder with a book and an observer with a watch, over a store that loses renewals at random. Their clocks
    /// begin at different times, and run at speeds up to a tenth apart.
    @Test("a lease is never reclaimed while its holder thinks that it is valid", arguments: UInt64(0)..<200)
    func neverBoth(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let speed = Double.random(in: 0.9...1.1, using: &random)
        let offset = Duration.seconds(Double.random(in: 0...1000, using: &random))
        var book = LeaseBook(duration: Self.duration)
        var watch = LeaseWatch(duration: Self.duration)
        var (beat, stopped): (UInt64, Duration?) = (0, nil)
        book.leased(Self.lease, begin: .zero)
        // (end of the renewal, whether it works); a renewal takes up to 8 s.
        var renewal: (end: Duration, works: Bool)?
        let brokenFrom = Duration.seconds(Double.random(in: 0...200, using: &random))
        var time = Duration.zero
        while time < .seconds(400) {
            if let going = renewal, going.end <= time {
                if going.works { beat += 1 }
                book.renewalEnded(Self.lease, succeeded: going.works, at: time)
                renewal = nil
            }
            if !book.cutoffs(at: time).isEmpty { stopped = stopped ?? time }
            if stopped == nil, !book.renewalsDue(at: time).isEmpty {
                let works = time < brokenFrom && Double.random(in: 0..<1, using: &random) < 0.7
                renewal = (time + .milliseconds(Int.random(in: 0...8000, using: &random)), works)
            }
            let sighting = LeaseSighting(lease: Self.lease, beat: beat, host: "h")
            if !watch.looked([sighting], at: offset + time * speed, isGone: { _ in false }).isEmpty {
                #expect(stopped != nil, "seed \(seed): reclaimed at \(time), and the holder goes on")
                return
            }
            time += .milliseconds(Int.random(in: 50...500, using: &random))
        }
        Issue.record("seed \(seed): the lease of a broken holder was never reclaimed")
    }
}

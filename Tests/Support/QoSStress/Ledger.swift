import Synchronization

/// Counts what was begun, and what came to its end: nothing may be lost, and nothing may end twice.
final class Ledger: Sendable {
    private final class Entry: Sendable {
        let begun = Atomic(0)
        let ended = Atomic(0)
    }

    private let entries = Dictionary(uniqueKeysWithValues: Move.allCases.map { ($0, Entry()) })
    /// The number of submissions refused with an error, as deadlocks are; counted as ended.
    let refused = Atomic(0)
    /// The first violation; the program ends by it.
    private let isBroken = Atomic(false)
    /// The number of live tokens: all submitted work has to be released at the end of a round.
    let live = Atomic(0)

    /// Something begins: the token has to be finished once.
    func begin(_ move: Move) -> Token {
        entries[move]?.begun.add(1, ordering: .relaxed)
        live.add(1, ordering: .relaxed)
        return Token(move, self)
    }

    fileprivate func end(_ move: Move) {
        entries[move]?.ended.add(1, ordering: .relaxed)
    }

    fileprivate func violated(_ text: String) {
        if !isBroken.exchange(true, ordering: .relaxed) { Report.line("violation: \(text)") }
    }

    /// Whether something was lost or ended twice.
    var hasViolation: Bool { isBroken.load(ordering: .relaxed) }

    /// The number of ended ones, of all kinds, for the watchdog.
    var ended: Int { entries.values.reduce(0) { $0 + $1.ended.load(ordering: .relaxed) } }

    /// The number that have begun and not ended.
    var outstanding: Int {
        entries.values.reduce(0) { $0 + $1.begun.load(ordering: .relaxed) - $1.ended.load(ordering: .relaxed) }
    }

    /// The kinds of which some have not ended, with their numbers.
    var openEntries: String {
        Move.allCases.compactMap { move in
            guard let entry = entries[move] else { return nil }
            let (begun, ended) = (entry.begun.load(ordering: .relaxed), entry.ended.load(ordering: .relaxed))
            return begun == ended ? nil : "\(move.rawValue) \(ended)/\(begun)"
        }.joined(separator: ", ")
    }
}

/// One thing that was begun. Closures capture it, so that it shows whether they were run, and released.
final class Token: Sendable {
    private let move: Move
    private let ledger: Ledger
    private let isFinished = Atomic(false)

    fileprivate init(_ move: Move, _ ledger: Ledger) {
        self.move = move
        self.ledger = ledger
    }

    deinit {
        if !isFinished.load(ordering: .acquiring) {
            ledger.violated("\(move.rawValue) was released without having ended")
        }
        ledger.live.subtract(1, ordering: .relaxed)
    }

    /// It has come to its end.
    func finish() {
        if isFinished.exchange(true, ordering: .acquiringAndReleasing) {
            ledger.violated("\(move.rawValue) ended twice")
        } else {
            ledger.end(move)
        }
    }

    /// It was refused by an error that is allowed.
    func refuse() {
        ledger.refused.add(1, ordering: .relaxed)
        finish()
    }
}

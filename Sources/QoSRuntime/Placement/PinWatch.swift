/// A check whether others have taken the processor to which a worker is bound: a plain value.
///
/// It compares how long the worker ran with how long it was ready but did not run. If the two are close, a thread of
/// the same weight or a higher one is on its processor, and other processors may be free. Work of our own lower classes
/// does not come near to that.
struct PinWatch: Equatable {
    /// A shorter wait does not count. Nanoseconds, between two looks.
    private static let least: UInt64 = 25_000_000

    /// The processor on which the thread waited for a good part of the time for which it ran, as of the last look.
    ///
    /// One such processor is no reason to leave it: the others may be no better. If all are such, another program runs
    /// there.
    var crowdedProcessor: Int? { isCrowded ? processor : nil }

    private var isCrowded = false
    private var processor: Int?
    private var ran: UInt64 = 0
    private var waited: UInt64 = 0

    /// Takes the times of a look.
    ///
    /// - Parameters:
    ///   - processor: the processor to which the thread is bound; `nil` if its wait is not to be judged.
    ///   - ran: the time for which the thread has run so far, nanoseconds.
    ///   - waited: the time for which the thread was ready and did not run.
    /// - Returns: whether others have taken the processor since the last look.
    mutating func looked(on processor: Int?, ran: UInt64, waited: UInt64) -> Bool {
        let before = self
        (self.processor, self.ran, self.waited) = (processor, ran, waited)
        isCrowded = false
        guard processor != nil, before.processor == processor, ran >= before.ran, waited >= before.waited else {
            return false
        }
        let (running, waiting) = (ran - before.ran, waited - before.waited)
        isCrowded = waiting >= Self.least && 3 * waiting >= running
        return waiting >= Self.least && 4 * waiting >= 3 * running
    }
}

/// The processors that others have taken: a plain value. Each is left to them for some looks, then used again as a
/// test. A test that fails doubles the time until the next one: while it runs, requests wait behind the others.
struct TakenProcessors: Equatable {
    private static let looks = 8
    private static let most = 128

    private struct Term: Equatable {
        /// The looks until it is used again; 0 and less while it is used as a test.
        var left: Int
        var length: Int
    }

    private var terms: [Int: Term] = [:]

    func contains(_ processor: Int) -> Bool { (terms[processor]?.left ?? 0) > 0 }

    /// Notes that others have taken a processor, according to the present look.
    mutating func insert(_ processor: Int) {
        var length = Self.looks
        if let term = terms[processor] { length = term.left > 0 ? term.length : min(2 * term.length, Self.most) }
        terms[processor] = Term(left: length, length: length)
    }

    /// Notes that a look begins.
    ///
    /// - Returns: whether a processor is used again from now on.
    mutating func looked() -> Bool {
        terms = terms.compactMapValues { term in
            term.left > -Self.looks ? Term(left: term.left - 1, length: term.length) : nil
        }
        return terms.values.contains { $0.left == 0 }
    }
}

/// The results of the loop's last look at the workers' processors. The loop's thread.
final class PlaceWatch {
    /// The checks whether the workers have their processors for themselves, by seat.
    var pins: [Int: PinWatch] = [:]

    /// The processors that others have taken.
    var taken = TakenProcessors()

    /// The number of times that a worker had found no processor, as of the last look.
    var shortagesSeen: UInt64 = 0
}

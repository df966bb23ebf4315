/// Whether others have taken the processor that a worker is bound to: a plain value.
///
/// The worker was ready to run and did not, nearly as long as it ran: somebody of the same weight or a higher one is on its processor, and
/// others may be free. Work of our own lower classes does not come near to that.
struct PinWatch: Equatable {
    /// Waiting below this is nothing. Nanoseconds, between two looks.
    private static let least: UInt64 = 25_000_000

    private var processor: Int?
    private var ran: UInt64 = 0
    private var waited: UInt64 = 0

    /// - Parameters:
    ///   - processor: the one that the thread is bound to; `nil` where what it waited for is not to be judged.
    ///   - ran: for how long the thread has run so far, nanoseconds.
    ///   - waited: for how long it was ready and did not run.
    /// - Returns: whether others have taken the processor since the last look.
    mutating func looked(on processor: Int?, ran: UInt64, waited: UInt64) -> Bool {
        let before = self
        (self.processor, self.ran, self.waited) = (processor, ran, waited)
        guard processor != nil, before.processor == processor, ran >= before.ran, waited >= before.waited else {
            return false
        }
        let (running, waiting) = (ran - before.ran, waited - before.waited)
        return waiting >= Self.least && 4 * waiting >= 3 * running
    }
}

/// The processors that others have taken: each is left to them for some looks, then used again, to see. A plain value.
struct TakenProcessors: Equatable {
    private static let looks = 8

    private var looksLeft: [Int: Int] = [:]

    func contains(_ processor: Int) -> Bool { looksLeft[processor] != nil }

    /// Others have taken a processor, as the present look says.
    mutating func insert(_ processor: Int) {
        looksLeft[processor] = Self.looks
    }

    /// A look begins.
    ///
    /// - Returns: whether a processor is used again.
    mutating func looked() -> Bool {
        let before = looksLeft.count
        looksLeft = looksLeft.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        return looksLeft.count < before
    }
}

/// Whether others take the processors of workers: what the loop has seen when it looked last. The loop's thread.
final class PlaceWatch {
    /// Whether these workers have their processors for themselves, by seat.
    var pins: [Int: PinWatch] = [:]

    /// Which processors others have taken.
    var taken = TakenProcessors()

    /// How often a worker had found none at the last look.
    var shortagesSeen: UInt64 = 0
}

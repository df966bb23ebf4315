/// A check whether others have taken the processor to which a worker is bound: a plain value.
///
/// It compares how long the worker ran with how long it was ready but did not run. If the two are close, a thread of
/// the same weight or a higher one is on its processor, and other processors may be free. Work of our own lower classes
/// does not come near to that.
struct PinWatch: Equatable {
    /// A shorter wait does not count. Nanoseconds, between two looks.
    private static let least: UInt64 = 25_000_000

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
        guard processor != nil, before.processor == processor, ran >= before.ran, waited >= before.waited else {
            return false
        }
        let (running, waiting) = (ran - before.ran, waited - before.waited)
        return waiting >= Self.least && 4 * waiting >= 3 * running
    }
}

/// The processors that others have taken: a plain value. Each is left to them for some looks, then used again as a
/// test.
struct TakenProcessors: Equatable {
    private static let looks = 8

    private var looksLeft: [Int: Int] = [:]

    func contains(_ processor: Int) -> Bool { looksLeft[processor] != nil }

    /// Notes that others have taken a processor, according to the present look.
    mutating func insert(_ processor: Int) {
        looksLeft[processor] = Self.looks
    }

    /// Notes that a look begins.
    ///
    /// - Returns: whether a processor is used again from now on.
    mutating func looked() -> Bool {
        let before = looksLeft.count
        looksLeft = looksLeft.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        return looksLeft.count < before
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

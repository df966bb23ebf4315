/// Whether a worker that is bound to a processor of its own is better let go, because others have taken that: a plain value.
///
/// The worker was ready to run and did not, nearly as long as it ran: somebody of the same weight or a higher one is on its processor, and
/// others may be free. Work of our own lower classes does not come near to that. It is bound again after a while, to see.
struct PinWatch: Equatable {
    /// What is to be done.
    enum Action: Equatable {
        case none
        /// Lets the thread run on all processors.
        case release
        /// Binds it again.
        case pin
    }

    /// Waiting below this is nothing. Nanoseconds, between two looks.
    private static let least: UInt64 = 25_000_000

    /// How many looks it stays free.
    private static let freeLooks = 8

    private var ran: UInt64?
    private var waited: UInt64 = 0
    private var looksLeft = 0

    /// Whether it has been let go.
    var isReleased: Bool { looksLeft > 0 }

    /// - Parameters:
    ///   - ran: for how long the thread has run so far, nanoseconds.
    ///   - waited: for how long it was ready and did not run.
    mutating func looked(ran: UInt64, waited: UInt64) -> Action {
        let before = (ran: self.ran, waited: self.waited)
        (self.ran, self.waited) = (ran, waited)
        if looksLeft > 0 {
            looksLeft -= 1
            return looksLeft == 0 ? .pin : .none
        }
        guard let ranBefore = before.ran, ran >= ranBefore, waited >= before.waited else { return .none }
        let (running, waiting) = (ran - ranBefore, waited - before.waited)
        guard waiting >= Self.least, 4 * waiting >= 3 * running else { return .none }
        looksLeft = Self.freeLooks
        return .release
    }
}

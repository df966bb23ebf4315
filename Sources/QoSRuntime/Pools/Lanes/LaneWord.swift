/// Whether somebody runs a serial lane, and in which pools an activation of it waits.
///
/// A pure value that changes by compare-and-swap (`Docs/Protocols/serial-lane.md`).
struct LaneWord: Equatable {
    private static let runningBit: UInt8 = 0x80

    private(set) var rawValue: UInt8

    init(rawValue: UInt8 = 0) {
        self.rawValue = rawValue
    }

    var isRunning: Bool { rawValue & Self.runningBit != 0 }

    /// The highest rank at which an activation waits.
    var highestActivation: Int? {
        let waiting = rawValue & ~Self.runningBit
        return waiting == 0 ? nil : 7 - waiting.leadingZeroBitCount
    }

    private func hasActivation(at rank: Int) -> Bool { rawValue & (1 << UInt8(rank)) != 0 }

    private func with(running: Bool, activations: UInt8) -> LaneWord {
        LaneWord(rawValue: activations | (running ? Self.runningBit : 0))
    }

    private var activations: UInt8 { rawValue & ~Self.runningBit }

    /// An item of that rank has been added.
    ///
    /// - Returns: the word in which an activation waits at that rank, which the caller submits; `nil` when the lane
    ///   runs, or one at least as high waits already.
    func itemAdded(rank: Int) -> LaneWord? {
        if isRunning { return nil }
        if let highest = highestActivation, highest >= rank { return nil }
        return with(running: false, activations: activations | 1 << UInt8(rank))
    }

    /// An activation has reached a worker.
    ///
    /// - Returns: the word without it, and whether the worker runs the lane now; not when another does.
    func activationTaken(rank: Int) -> (LaneWord, runs: Bool) {
        (with(running: true, activations: activations & ~(1 << UInt8(rank))), !isRunning)
    }

    /// The worker that runs the lane stops.
    ///
    /// - Parameter rank: of the highest item left; `nil` when none is.
    /// - Returns: the word, and the rank at which an activation has to be submitted for what is left.
    func runEnded(leaving rank: Int?) -> (LaneWord, submit: Int?) {
        guard let rank else { return (with(running: false, activations: activations), nil) }
        if let highest = highestActivation, highest >= rank {
            return (with(running: false, activations: activations), nil)
        }
        return (with(running: false, activations: activations | 1 << UInt8(rank)), rank)
    }

    /// The worker that stopped has seen that an item came in meanwhile, which relied on it: it goes on, unless another
    /// runs the lane already. It does so even if an activation waits, since that may be of a lower class than the item.
    func runResumed() -> LaneWord? {
        isRunning ? nil : with(running: true, activations: activations)
    }
}

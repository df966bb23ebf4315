/// The state of a serial lane: whether a thread runs the lane, and in which pools an activation waits.
///
/// A pure value that changes by compare-and-swap (`Docs/Inside/Protocols/serial-lane.md`).
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

    /// Notes that an item of this rank has been added.
    ///
    /// - Returns: the word with an activation waiting at this rank, which the caller submits. `nil` when the lane runs,
    ///   or an activation at least as high already waits.
    func itemAdded(rank: Int) -> LaneWord? {
        if isRunning { return nil }
        if let highest = highestActivation, highest >= rank { return nil }
        return with(running: false, activations: activations | 1 << UInt8(rank))
    }

    /// Notes that an activation has reached a worker.
    ///
    /// - Returns: the word without the activation, and whether the worker now runs the lane. It does not when another
    ///   worker runs it.
    func activationTaken(rank: Int) -> (LaneWord, runs: Bool) {
        (with(running: true, activations: activations & ~(1 << UInt8(rank))), !isRunning)
    }

    /// Notes that the worker that runs the lane stops.
    ///
    /// - Parameter rank: the rank of the highest item left; `nil` when none is left.
    /// - Returns: the word, and the rank at which the caller must submit an activation for the items that are left.
    func runEnded(leaving rank: Int?) -> (LaneWord, submit: Int?) {
        guard let rank else { return (with(running: false, activations: activations), nil) }
        if let highest = highestActivation, highest >= rank {
            return (with(running: false, activations: activations), nil)
        }
        return (with(running: false, activations: activations | 1 << UInt8(rank)), rank)
    }

    /// Resumes the run of a worker that stopped and then saw a new item, whose submitter relied on the worker.
    ///
    /// The worker goes on unless another one already runs the lane. It does so even if an activation waits, because
    /// that activation may be of a lower class than the item.
    func runResumed() -> LaneWord? {
        isRunning ? nil : with(running: true, activations: activations)
    }
}

import QoSCore

/// Which threads of low classes use a processor that a higher class leaves to starving ones: a plain value
/// (`Docs/Inside/Protocols/placement.md`).
struct Lending {
    /// Where a worker's thread may run while the processor is lent.
    enum Place: Equatable {
        /// On the lent processor only.
        case lent
        /// On all processors but the lent one.
        case others
        /// Where it may run anyway.
        case anywhere
    }

    /// The classes whose starvation windows are open.
    let starving: QoSClassSet

    /// Returns the place of a worker of a class below the one that lends.
    ///
    /// - The starving classes get the processor.
    /// - A worker of a class between stands aside only at the end of its job, and the window lasts until then. So it
    ///   gets the processor, too.
    /// - A worker of a class below the starving ones leaves the processor. Its weight is nearly the same, so it would
    ///   take a large part of the window.
    func place(rank: Int, isParked: Bool) -> Place {
        if starving.contains(QoSClass(atRank: rank)) { return .lent }
        if isParked || starving.isEmpty { return .anywhere }
        return starving.isBelow(rank: rank) ? .lent : .others
    }
}

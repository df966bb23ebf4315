internal import Synchronization

/// The right to run a pass; there is one per index at a time, and it is given back when the token ends.
final class PassToken {
    private let index: SearchIndex

    /// Takes the right, or throws when it is taken.
    init(of index: SearchIndex) throws(IndexError) {
        let isFree = index.isPassUnderWay.withLock { isUnderWay in
            defer { isUnderWay = true }
            return !isUnderWay
        }
        // Thrown before the object is whole, so that `deinit` does not give back what was not taken.
        guard isFree else { throw .passUnderWay }
        self.index = index
    }

    deinit {
        index.isPassUnderWay.withLock { $0 = false }
    }
}

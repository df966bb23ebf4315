internal import Synchronization

/// The right to run a pass. There is one per index at a time. The end of the token gives it back.
final class PassToken {
    private let index: SearchIndex

    /// Takes the right, or throws when another pass has it.
    init(of index: SearchIndex) throws(IndexError) {
        let isFree = index.isPassUnderWay.withLock { isUnderWay in
            defer { isUnderWay = true }
            return !isUnderWay
        }
        // Thrown before the object is complete, so that `deinit` does not give the right back.
        guard isFree else { throw .passUnderWay }
        self.index = index
    }

    deinit {
        index.isPassUnderWay.withLock { $0 = false }
    }
}

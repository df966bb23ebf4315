/// The holders of a lock, once for each share, as a value.
///
/// A few shares are a list. If there are more, the shares of each holder are counted, until all are given back. So a
/// holder among very many is found without a search.
///
/// - Complexity: O(1) for a share that is taken or given back.
package struct LockHolders: Sendable {
    /// The number of shares up to which they are a list.
    package static let listLimit = 16

    private var list: [LockParticipant] = []

    /// The number of shares of each holder; empty as long as the list is used.
    private var counts: [LockParticipant: Int] = [:]

    /// Makes the holders of a lock, once for each share.
    package init(_ holders: [LockParticipant] = []) {
        for holder in holders { append(holder) }
    }

    /// Whether nobody holds a share.
    package var isEmpty: Bool { list.isEmpty && counts.isEmpty }

    /// One of the holders; `nil` without one.
    package var first: LockParticipant? { list.first ?? counts.keys.first }

    /// The holders, each at least once, in any order.
    package var all: [LockParticipant] { counts.isEmpty ? list : Array(counts.keys) }

    /// Whether a party holds a share.
    package func contains(_ holder: LockParticipant) -> Bool {
        counts.isEmpty ? list.contains(holder) : counts[holder] != nil
    }

    /// Adds a share of a holder.
    package mutating func append(_ holder: LockParticipant) {
        if counts.isEmpty, list.count < Self.listLimit {
            list.append(holder)
            return
        }
        for one in list { counts[one, default: 0] += 1 }
        list = []
        counts[holder, default: 0] += 1
    }

    /// Removes a share of a holder, if it has one.
    package mutating func remove(_ holder: LockParticipant) {
        if let count = counts[holder] {
            counts[holder] = count > 1 ? count - 1 : nil
            // Frees the memory of a crowd that is gone.
            if counts.isEmpty { counts = [:] }
        } else if let place = list.firstIndex(of: holder) {
            list.swapAt(place, list.count - 1)
            list.removeLast()
        }
    }
}

extension WorkOrder {
    /// A search for the highest level behind a held item that needs the item's end. It begins at the next barrier, or
    /// at the item if this is one. It goes in parts, so that the queue's lock is held only briefly.
    package struct Behind: Sendable {
        let sequence: Int
        var next: Int
        var isPastBarrier = false

        /// The highest level so far.
        package internal(set) var level = LevelCode.none

        /// Makes a search that begins at an item.
        ///
        /// - Parameter sequence: the item's number from ``WorkOrder/added(token:level:isBarrier:)``.
        package init(_ sequence: Int) {
            self.sequence = sequence
            next = sequence
        }
    }

    /// Goes on with a search, over at most a number of items. The item must still be held.
    ///
    /// - Returns: whether the search is over.
    package func look(_ search: inout Behind, limit: Int) -> Bool {
        let end = firstHeld + heldCount
        let stop = min(end, search.next + limit)
        while search.next < stop, search.level < highestHeld {
            let (level, isBarrier) = heldItem(search.next)
            if isBarrier { search.isPastBarrier = true }
            if search.isPastBarrier, search.next > search.sequence { search.level = max(search.level, level) }
            search.next += 1
        }
        return search.next == end || search.level == highestHeld
    }
}

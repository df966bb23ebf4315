/// The places in a queue that are kept for a list, which is added in several events.
package struct ListPlaces: Sendable {
    /// The place of one operation of a list.
    package struct Place: Sendable {
        /// The number of the segment in the queue.
        let segment: UInt64
        /// The number in the order of adding.
        let sequence: UInt64
    }

    /// The number of the list's segment in the queue.
    let segment: UInt64
    private var nextSequence: UInt64

    init(segment: UInt64, firstSequence: UInt64) {
        self.segment = segment
        nextSequence = firstSequence
    }

    /// Takes the next place. There are as many as the list has operations.
    package mutating func next() -> Place {
        defer { nextSequence += 1 }
        return Place(segment: segment, sequence: nextSequence)
    }
}

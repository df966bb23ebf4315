/// Since when the oldest job of a queue waits, found out by looking at two counts now and then: no job carries a time.
///
/// Each look remembers how many jobs had come by then. The first of these marks that has not been reached by what was taken
/// since is the time by which the oldest waiting job had come. As exact as the looks are frequent; where jobs overtake one another, it
/// is the age that they would have in the order of their arrival.
///
/// A plain value. Complexity: amortised O(1) for a look.
struct QueueAge {
    private struct Mark {
        /// How many jobs had come.
        var arrived: UInt64
        /// When that was seen.
        let seenAt: UInt64
    }

    private static let mostMarks = 128

    private var marks: [Mark] = []

    /// How far marks lie apart at least, nanoseconds: grows with the age, so that it is exact to a sixty-fourth.
    private var spacing: UInt64 = 0

    /// - Parameters:
    ///   - taken: how many jobs have left the queue so far, to be run or moved.
    ///   - waiting: how many are in it.
    ///   - now: monotonic nanoseconds.
    /// - Returns: since when the oldest waits; `nil` when none does.
    mutating func looked(taken: UInt64, waiting: Int, at now: UInt64) -> UInt64? {
        guard waiting > 0 else {
            (marks, spacing) = ([], 0)
            return nil
        }
        marks.removeAll { $0.arrived <= taken }
        let arrived = taken + UInt64(waiting)
        guard let last = marks.last else {
            marks = [Mark(arrived: arrived, seenAt: now)]
            return now
        }
        if arrived > last.arrived {
            if now &- last.seenAt < spacing {
                marks[marks.count - 1].arrived = arrived
            } else {
                if marks.count == Self.mostMarks { thinOut() }
                marks.append(Mark(arrived: arrived, seenAt: now))
            }
        }
        return marks.first?.seenAt
    }

    /// Merges each two: what came with the later one counts from the earlier one on, so that no wait looks shorter than it is.
    private mutating func thinOut() {
        spacing = 2 * max(spacing, (marks[marks.count - 1].seenAt &- marks[0].seenAt) / UInt64(Self.mostMarks))
        marks = stride(from: 0, to: marks.count - 1, by: 2).map { index in
            Mark(arrived: marks[index + 1].arrived, seenAt: marks[index].seenAt)
        }
    }
}

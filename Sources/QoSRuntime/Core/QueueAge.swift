/// The age of the oldest job in a queue, derived from regular looks at two counts: no job carries a time.
///
/// Each look makes a mark of the number of jobs that had come by then. The first mark that the number of taken jobs has
/// not reached gives the time by which the oldest waiting job had come. The result is as exact as the looks are
/// frequent. If jobs overtake one another, it is the age of the oldest job in the order of arrival.
///
/// A plain value. Complexity: amortised O(1) for a look.
struct QueueAge {
    private struct Mark {
        /// The number of jobs that had come.
        var arrived: UInt64
        /// The time of that look.
        let seenAt: UInt64
    }

    private static let mostMarks = 128

    private var marks: [Mark] = []

    /// The least distance between marks, nanoseconds. It grows with the age, so the age is exact to a sixty-fourth.
    private var spacing: UInt64 = 0

    /// Takes the counts of a look.
    ///
    /// - Parameters:
    ///   - taken: the number of jobs that have left the queue so far, to be run or moved.
    ///   - waiting: the number of jobs in the queue.
    ///   - now: monotonic nanoseconds.
    /// - Returns: the time since which the oldest job waits; `nil` when none waits.
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

    /// Merges pairs of marks. The jobs of the later mark count from the earlier mark on, so no wait looks shorter than
    /// it is.
    private mutating func thinOut() {
        spacing = 2 * max(spacing, (marks[marks.count - 1].seenAt &- marks[0].seenAt) / UInt64(Self.mostMarks))
        marks = stride(from: 0, to: marks.count - 1, by: 2).map { index in
            Mark(arrived: marks[index + 1].arrived, seenAt: marks[index].seenAt)
        }
    }
}

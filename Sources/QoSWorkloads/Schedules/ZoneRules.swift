/// The offsets of a time zone over time: what a wall clock there shows.
///
/// A pure value. ``ZoneRules/init(tzif:)`` reads it from a file of the time zone database.
struct ZoneRules: Sendable, Hashable {
    /// A moment at which the offset changes.
    struct Transition: Sendable, Hashable {
        /// Seconds since 1970.
        var time: Int64
        /// The offset from then on, in seconds east of UTC.
        var offset: Int64
    }

    /// The offset before the first transition.
    let first: Int64
    /// In ascending order.
    let transitions: [Transition]

    static let utc = ZoneRules(first: 0, transitions: [])

    /// Returns the offset at a time.
    ///
    /// - Complexity: O(log n) for n transitions.
    func offset(at time: Int64) -> Int64 {
        let index = indexOfFirst(after: time)
        return index == 0 ? first : transitions[index - 1].offset
    }

    /// Returns what a clock shows at a time.
    func civil(at time: Int64) -> CivilTime {
        CivilTime(secondsSince1970: time + offset(at: time))
    }

    /// Returns the next change of the offset after a time, with the offset before; `nil` if there is none.
    func transition(after time: Int64) -> (at: Int64, before: Int64, after: Int64)? {
        let index = indexOfFirst(after: time)
        guard index < transitions.count else { return nil }
        return (transitions[index].time, index == 0 ? first : transitions[index - 1].offset, transitions[index].offset)
    }

    /// Returns the last change of the offset at or before a time.
    func transition(atOrBefore time: Int64) -> (at: Int64, before: Int64, after: Int64)? {
        let index = indexOfFirst(after: time) - 1
        guard index >= 0 else { return nil }
        return (transitions[index].time, index == 0 ? first : transitions[index - 1].offset, transitions[index].offset)
    }

    private func indexOfFirst(after time: Int64) -> Int {
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

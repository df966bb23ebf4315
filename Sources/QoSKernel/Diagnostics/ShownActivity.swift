internal import CQoSShims
package import QoSCore
internal import Synchronization

/// An activity that has begun and not ended, as other processes see it.
///
/// It stands in one of 256 places (``DiagnosticsLayout/activityCount``). The first word of a place has its state and a
/// number, which grows each time that the place is taken:
///
/// ```
///        free n ──taken──▶ is written n+1 ──all words are there──▶ shown n+1 ──the activity ends──▶ free n+1
/// ```
/// The other words never change while the place is shown. A reader copies all places three times. It believes the
/// middle copy of a place whose first word is the same in all three, and says that it is shown.
///
/// Threading: a value.
package struct ShownActivity: Sendable, Hashable, Encodable {
    /// The activity of another process for which this one was begun.
    package struct Originator: Sendable, Hashable, Encodable {
        package var process: Int32
        package var activity: UInt64

        package init(process: Int32, activity: UInt64) { (self.process, self.activity) = (process, activity) }
    }

    /// A number that no other activity of the process has; never 0.
    package var id: UInt64
    package var name: String
    package var parent: UInt64?
    /// In monotonic nanoseconds.
    package var begin: UInt64
    /// The class that the activity gives to work created in it.
    package var level: QoSClass?
    package var originator: Originator?
    /// The work that began it.
    package var work: WorkID

    package init(
        id: UInt64, name: String, parent: UInt64? = nil, begin: UInt64, level: QoSClass? = nil,
        originator: Originator? = nil, work: WorkID
    ) {
        (self.id, self.name, self.parent, self.begin) = (id, name, parent, begin)
        (self.level, self.originator, self.work) = (level, originator, work)
    }

    /// Reads a place; `nil` if it is not shown.
    init?(_ words: ArraySlice<UInt64>) {
        typealias Activity = DiagnosticsLayout.Activity
        let words = Array(words)
        guard words.count == DiagnosticsLayout.activityWords,
            words[Activity.state] & Activity.states == Activity.shown, words[Activity.id] != 0
        else { return nil }
        let (process, original) = (words[Activity.process], words[Activity.original])
        self.init(
            id: words[Activity.id],
            name: DiagnosticsPicture.text(words[Activity.name..<Activity.name + Activity.nameBytes / 8]),
            parent: words[Activity.parent] == 0 ? nil : words[Activity.parent], begin: words[Activity.begin],
            level: QoSClass(rank: Int(words[Activity.level] & 0xF) - 1),
            originator: original == 0
                ? nil : Originator(process: Int32(truncatingIfNeeded: process), activity: original),
            work: WorkID(rawValue: words[Activity.work]))
    }

    /// Reads all places. An activity that is shown during the whole call is in the result, and each one of the result
    /// was shown at a moment of the call.
    ///
    /// - Parameter read: returns a number of words from an index on, as they are at the call.
    static func all(_ read: (_ word: Int, _ count: Int) -> [UInt64]) -> [ShownActivity] {
        let size = DiagnosticsLayout.activityWords
        let copies = (0..<3).map { _ in read(DiagnosticsLayout.activities, DiagnosticsLayout.activityCount * size) }
        return (0..<DiagnosticsLayout.activityCount).compactMap { index in
            // The copy between two that agree with it: the order in which the kernel copies words does not matter.
            guard copies[0][index * size] == copies[1][index * size],
                copies[1][index * size] == copies[2][index * size]
            else { return nil }
            return ShownActivity(copies[1][index * size..<(index + 1) * size])
        }.sorted { $0.id < $1.id }
    }
}

extension WorkID: Encodable {
    /// As the text of ``description``.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension DiagnosticsMapping {
    /// Shows an activity. Takes no lock; any thread.
    ///
    /// - Returns: the place, for ``endActivity(at:)``; `nil` if there is no free one. That is counted.
    package func begin(_ activity: ShownActivity) -> Int? {
        let header = region(from: 0)
        // At most as many come past this line as there are places, so one of them is free at each moment.
        let (_, taken) = unsafe header[DiagnosticsLayout.Header.activitiesTaken].pointee
            .wrappingAdd(1, ordering: .relaxed)
        if taken <= UInt64(DiagnosticsLayout.activityCount), let place = takePlace(from: activity.id) {
            write(activity, at: place)
            return place
        }
        unsafe header[DiagnosticsLayout.Header.activitiesTaken].pointee.wrappingSubtract(1, ordering: .relaxed)
        unsafe header[DiagnosticsLayout.Header.activitiesLost].pointee.wrappingAdd(1, ordering: .relaxed)
        return nil
    }

    /// Gives a place back. Any thread; once for each begin.
    package func endActivity(at place: Int) {
        let state = unsafe self.place(place)[DiagnosticsLayout.Activity.state]
        let turn = unsafe state.pointee.load(ordering: .relaxed) & ~DiagnosticsLayout.Activity.states
        // Release: the next owner's words come behind the last ones of this one.
        unsafe state.pointee.store(turn | DiagnosticsLayout.Activity.free, ordering: .releasing)
        unsafe region(from: 0)[DiagnosticsLayout.Header.activitiesTaken].pointee
            .wrappingSubtract(1, ordering: .relaxed)
    }

    private func place(_ index: Int) -> DiagnosticsWords {
        region(from: DiagnosticsLayout.activities + index * DiagnosticsLayout.activityWords)
    }

    /// Takes a free place; `nil` if others have taken each one before this call came to it, twice over.
    private func takePlace(from first: UInt64) -> Int? {
        typealias Activity = DiagnosticsLayout.Activity
        let count = UInt64(DiagnosticsLayout.activityCount)
        for step in 0..<2 * count {
            let index = Int((first &+ step) % count)
            let state = unsafe place(index)[Activity.state]
            let free = unsafe state.pointee.load(ordering: .relaxed)
            guard free & Activity.states == Activity.free else { continue }
            let (isTaken, _) = unsafe state.pointee.compareExchange(
                expected: free, desired: free &+ Activity.turn | Activity.isWritten, ordering: .acquiring)
            if isTaken { return index }
        }
        return nil
    }

    private func write(_ activity: ShownActivity, at index: Int) {
        typealias Activity = DiagnosticsLayout.Activity
        let place = self.place(index)
        // A reader that finds one of the words below finds the place taken, too.
        atomicMemoryFence(ordering: .releasing)
        func store(_ word: Int, _ value: UInt64) { unsafe place[word].pointee.store(value, ordering: .relaxed) }
        store(Activity.id, activity.id)
        store(Activity.parent, activity.parent ?? 0)
        store(Activity.begin, activity.begin)
        store(Activity.level, UInt64((activity.level?.rank ?? -1) + 1))
        store(Activity.process, UInt64(UInt32(bitPattern: activity.originator?.process ?? 0)))
        store(Activity.original, activity.originator?.activity ?? 0)
        store(Activity.work, activity.work.rawValue)
        // SAFETY: the place is this thread's, and no thread of the process reads the bytes; other processes copy them.
        let name = unsafe UnsafeMutableRawPointer(place[Activity.name]).assumingMemoryBound(to: CChar.self)
        unsafe activity.name.withCString { unsafe cqos_copy_text(name, $0, Activity.nameBytes) }
        let state = unsafe place[Activity.state].pointee.load(ordering: .relaxed)
        unsafe place[Activity.state].pointee.store(
            state & ~Activity.states | Activity.shown, ordering: .releasing)
    }
}

import QoSCore
import Synchronization
import Testing

@testable import QoSKernel

@Suite("The activities that a process shows", .tags(.kernel), .timeLimit(.minutes(5)))
struct ShownActivityTests {
    private func made(_ id: UInt64, name: String = "made") -> ShownActivity {
        ShownActivity(id: id, name: name, begin: id, work: WorkID(rawValue: 7))
    }

    @Test("X3 an activity is read as it was written, until it ends")
    func roundTrip() throws {
        let made = try MadeMapping()
        let outer = ShownActivity(
            id: 1 << 40, name: "nightly export", begin: 99, level: .utility,
            work: WorkID(slot: 3, rank: 1, worker: 0, steps: 9))
        let inner = ShownActivity(
            id: 1 << 40 + 1, name: "", parent: 1 << 40, begin: 100, level: .background,
            originator: .init(process: 4711, activity: 12), work: WorkID(rawValue: 4720))
        let first = try #require(made.mapping.begin(outer))
        let second = try #require(made.mapping.begin(inner))
        #expect(try made.picture().activities == [outer, inner])
        made.mapping.endActivity(at: first)
        #expect(try made.picture().activities == [inner])
        made.mapping.endActivity(at: second)
        let picture = try made.picture()
        #expect(picture.activities.isEmpty && picture.activitiesLost == 0)
        #expect(try DiagnosticsReader(file: made.path).picture(withEvents: false).activities.isEmpty)
    }

    @Test("a name is cut to its room, and shows nothing of the longer one before it")
    func names() throws {
        let made = try MadeMapping()
        for (name, shown) in [
            (String(repeating: "x", count: 80), String(repeating: "x", count: 63)), ("a\nb", "a?b"), ("", ""),
        ] {
            // The same number, so the same place.
            let place = try #require(made.mapping.begin(self.made(5, name: name)))
            #expect(place == 5)
            #expect(try made.picture().activities.map(\.name) == [shown])
            made.mapping.endActivity(at: place)
        }
    }

    @Test("beyond the places activities are lost and counted; a place that was given back is taken again")
    func full() throws {
        let made = try MadeMapping()
        let count = DiagnosticsLayout.activityCount
        // All want the same place first.
        let places = (0..<count).compactMap { made.mapping.begin(self.made(UInt64($0 * count + 9))) }
        #expect(Set(places) == Set(0..<count) && places.first == 9)
        #expect(made.mapping.begin(self.made(3)) == nil && made.mapping.begin(self.made(4)) == nil)
        #expect(try made.picture().activitiesLost == 2 && made.picture().activities.count == count)
        made.mapping.endActivity(at: 77)
        #expect(made.mapping.begin(self.made(5)) == 77)
        #expect(made.mapping.begin(self.made(6)) == nil)
        let picture = try made.picture()
        #expect(picture.activities.first?.id == 5 && picture.activities.count == count && picture.activitiesLost == 3)
    }

    /// The words of all places, empty but for the second one.
    private func words(state: UInt64, id: UInt64) -> [UInt64] {
        typealias Activity = DiagnosticsLayout.Activity
        let size = DiagnosticsLayout.activityWords
        var words = [UInt64](repeating: 0, count: DiagnosticsLayout.activityCount * size)
        words[size + Activity.state] = state
        words[size + Activity.id] = id
        return words
    }

    @Test("only a place that is shown, and the same in all three copies, is believed; the middle copy counts")
    func copies() {
        typealias Activity = DiagnosticsLayout.Activity
        let turn = 5 * Activity.turn
        let (free, written, shown) = (turn | Activity.free, turn | Activity.isWritten, turn | Activity.shown)
        func read(_ copies: (UInt64, UInt64)...) -> [UInt64] {
            var rest = copies[...]
            let all = ShownActivity.all { word, count in
                #expect(word == DiagnosticsLayout.activities && word + count == DiagnosticsLayout.words)
                let (state, id) = rest.removeFirst()
                return words(state: state, id: id)
            }
            #expect(rest.isEmpty)
            return all.map(\.id)
        }
        #expect(read((shown, 1), (shown, 2), (shown, 3)) == [2])
        #expect(read((shown, 1), (shown, 1), (free, 1)).isEmpty)
        #expect(read((written, 1), (shown, 1), (shown, 1)).isEmpty)
        #expect(read((shown, 1), (written + Activity.turn, 2), (shown + Activity.turn, 2)).isEmpty)
        #expect(read((shown, 1), (shown + Activity.turn, 2), (shown, 1)).isEmpty)
        for state in [0, free, written, turn | 3] { #expect(read((state, 1), (state, 1), (state, 1)).isEmpty) }
        #expect(read((shown, 0), (shown, 0), (shown, 0)).isEmpty)
    }

    @Test("messages and breadcrumbs have their text and their activity")
    func notes() throws {
        let made = try MadeMapping()
        let text = made.mapping.number(of: "index opened")
        for (kind, number, activity) in [
            (.message, text, 7), (.breadcrumb, text, 0), (.message, 0, 7),
        ] as [(DiagnosticsRecord.Kind, UInt16, UInt64)] {
            made.mapping.write(
                DiagnosticsRecord(kind, detail: number, time: 1, work: WorkID(rawValue: 0), payload: activity))
        }
        let events = try made.picture().events
        #expect(Set(events.map(\.kind)) == ["message", "breadcrumb"] && events.count == 3)
        #expect(events.count { $0.activity == 7 } == 2 && events.count { $0.text == "index opened" } == 2)
        #expect(events.first { $0.kind == "breadcrumb" }?.activity == nil)
    }

    @Test("X3 a reader never sees the words of one activity with the number of another")
    func racing() throws {
        let made = try MadeMapping()
        let mapping = made.mapping
        let (isOver, nextID) = (Shared(), Shared())
        func makeWriter() throws -> Thread {
            try Thread(name: "writer") {
                var places: [Int] = []
                while isOver.value.load(ordering: .relaxed) == 0 {
                    let id = nextID.value.wrappingAdd(1, ordering: .relaxed).newValue
                    let activity = ShownActivity(
                        id: id, name: "activity \(id)", parent: id, begin: id,
                        originator: .init(process: Int32(truncatingIfNeeded: id), activity: id),
                        work: WorkID(rawValue: id))
                    if let place = mapping.begin(activity) { places.append(place) }
                    // Some last, so that a reader finds one.
                    for _ in 0..<(id % 63 == 0 ? 20_000 : 0) {
                        _ = isOver.value.load(ordering: .sequentiallyConsistent)
                    }
                    if places.count > 4 { mapping.endActivity(at: places.removeFirst()) }
                }
                for place in places { mapping.endActivity(at: place) }
            }
        }
        let first = try makeWriter()
        let second = try makeWriter()
        var seen = 0
        let reader = try DiagnosticsReader(file: made.path)
        for _ in 0..<2000 {
            for activity in reader.picture().activities {
                seen += 1
                #expect(activity.name == "activity \(activity.id)" && activity.parent == activity.id)
                #expect(activity.begin == activity.id && activity.work.rawValue == activity.id)
                #expect(activity.originator?.activity == activity.id)
            }
        }
        isOver.value.store(1, ordering: .relaxed)
        try first.join()
        try second.join()
        #expect(seen > 0)
        let last = reader.picture()
        #expect(last.activities.isEmpty && last.activitiesLost == 0)
    }

    private final class Shared: Sendable {
        let value = Atomic<UInt64>(0)
    }
}

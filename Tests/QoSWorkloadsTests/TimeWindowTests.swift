import FoundationEssentials
import Testing

@testable import QoSWorkloads

@Suite("Windows of time")
struct TimeWindowTests {
    private func window(
        _ start: String, _ end: String, on days: Set<Weekday> = Set(Weekday.allCases), zone: ZoneRules = .utc
    ) throws -> TimeWindow {
        try TimeWindow(from: start, to: end, on: days, timeZone: "Made/Zone", zone: zone)
    }

    /// The changes after a time.
    private func changes(of window: TimeWindow, after start: WallTime, count: Int) throws -> [WallTime] {
        var times: [WallTime] = []
        for _ in 0..<count { times.append(try #require(window.nextChange(after: times.last ?? start))) }
        return times
    }

    @Test("a window opens and closes at its times")
    func plain() throws {
        let day = try window("09:30", "17:00")
        #expect(!day.contains(time("2026-11-23 09:29")))
        #expect(day.contains(time("2026-11-23 09:30")))
        #expect(day.contains(time("2026-11-23 16:59")))
        #expect(!day.contains(time("2026-11-23 17:00")))
        let found = try changes(of: day, after: time("2026-11-23 10:00"), count: 3)
        #expect(found == [time("2026-11-23 17:00"), time("2026-11-24 09:30"), time("2026-11-24 17:00")])
    }

    @Test("a window over midnight belongs to the day on which it opens")
    func overMidnight() throws {
        // 27 November 2026 is a Friday.
        let night = try window("22:00", "06:00", on: [.friday])
        #expect(!night.contains(time("2026-11-27 05:00")))
        #expect(night.contains(time("2026-11-27 22:00")))
        #expect(night.contains(time("2026-11-28 05:59")))
        #expect(!night.contains(time("2026-11-28 06:00")))
        #expect(!night.contains(time("2026-11-28 22:00")))
        let found = try changes(of: night, after: time("2026-11-24 00:00"), count: 3)
        #expect(found == [time("2026-11-27 22:00"), time("2026-11-28 06:00"), time("2026-12-04 22:00")])
    }

    @Test("24:00 is the end of the day, and days that touch are one window")
    func wholeDays() throws {
        let weekend = try window("00:00", "24:00", on: [.saturday, .sunday])
        let found = try changes(of: weekend, after: time("2026-11-25 12:00"), count: 2)
        #expect(found == [time("2026-11-28 00:00"), time("2026-11-30 00:00")])
        #expect(weekend.contains(time("2026-11-28 23:59")))
        #expect(weekend.contains(time("2026-11-29 00:00")))
        // It never closes, and so has no change to wake for.
        #expect(try window("00:00", "24:00").nextChange(after: time("2026-11-25 12:00")) == nil)
    }

    @Test("a window whose times the clock skips does not open that day")
    func inGap() throws {
        let window = try window("02:15", "02:45", zone: .europe)
        let found = try changes(of: window, after: time("2026-03-28 12:00", offset: 1), count: 2)
        #expect(found == [time("2026-03-30 02:15", offset: 2), time("2026-03-30 02:45", offset: 2)])
    }

    @Test("a window that begins in a gap opens at its end, and one that ends in it closes at its begin")
    func acrossGap() throws {
        let later = try window("02:30", "04:00", zone: .europe)
        let found = try changes(of: later, after: time("2026-03-29 00:00", offset: 1), count: 2)
        #expect(found == [time("2026-03-29 03:00", offset: 2), time("2026-03-29 04:00", offset: 2)])
        let earlier = try window("01:00", "02:30", zone: .europe)
        let other = try changes(of: earlier, after: time("2026-03-29 00:00", offset: 1), count: 2)
        #expect(other == [time("2026-03-29 01:00", offset: 1), time("2026-03-29 02:00", offset: 1)])
    }

    @Test("a window whose times the clock shows twice opens twice")
    func inOverlap() throws {
        let window = try window("02:15", "02:45", zone: .europe)
        let found = try changes(of: window, after: time("2026-10-25 00:00", offset: 2), count: 4)
        #expect(
            found == [
                time("2026-10-25 02:15", offset: 2), time("2026-10-25 02:45", offset: 2),
                time("2026-10-25 02:15", offset: 1), time("2026-10-25 02:45", offset: 1),
            ])
    }

    @Test("the next change is the first minute with another answer")
    func changesAgreeWithContains() throws {
        for (start, end) in [("22:00", "06:00"), ("01:30", "02:30"), ("02:00", "03:00"), ("00:00", "24:00")] {
            for days: Set<Weekday> in [[.sunday], [.saturday, .monday], Set(Weekday.allCases)] {
                let window = try window(start, end, on: days, zone: .europe)
                for begin in [time("2026-03-27 00:00"), time("2026-10-23 00:00")] {
                    var last = begin
                    while let change = window.nextChange(after: last), change < begin.advanced(by: .seconds(345_600)) {
                        let before = window.contains(last)
                        for second in stride(
                            from: last.secondsSince1970 / 60 * 60 + 60, to: change.secondsSince1970, by: 60)
                        {
                            #expect(window.contains(WallTime(secondsSince1970: second)) == before)
                        }
                        #expect(window.contains(change) != before)
                        last = change
                    }
                }
            }
        }
    }

    @Test("windows and idle times that make no sense are refused, with what to do about it")
    func mistakes() throws {
        for text in ["9:30", "0930", "24:01", "23:60", "", "ab:cd", "12:3", "12:030", "-1:00", "12:00:00"] {
            #expect(throws: WorkloadScheduleError.malformedTime(text)) { try window(text, "01:00") }
        }
        #expect(throws: WorkloadScheduleError.malformedTime("24:00")) { try window("24:00", "01:00") }
        #expect(throws: WorkloadScheduleError.emptyWindow("08:00")) { try window("08:00", "08:00") }
        #expect(throws: WorkloadScheduleError.noWeekdays) { try window("08:00", "09:00", on: []) }
        #expect(throws: WorkloadScheduleError.self) {
            try WorkloadCondition.timeWindow(from: "08:00", to: "09:00", timeZone: "Europe/Nowhere")
        }
        for length in [Duration.zero, .seconds(-1)] {
            #expect(throws: WorkloadScheduleError.invalidIdleTime(length)) {
                try WorkloadCondition.idle(for: length).validate()
            }
        }
        try WorkloadCondition.idle(for: .nanoseconds(1)).validate()
    }

    @Test("a window is the same after it was stored, and the same windows give the same text")
    func coding() throws {
        let window = try TimeWindow(
            from: "22:00", to: "06:00", on: [.saturday, .friday, .monday], timeZone: "Europe/Berlin")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(window), as: UTF8.self)
        #expect(text == #"{"days":[1,5,6],"end":"06:00","start":"22:00","timeZone":"Europe/Berlin"}"#)
        #expect(try JSONDecoder().decode(TimeWindow.self, from: Data(text.utf8)) == window)
        #expect(window.description == "22:00 to 06:00 on Mon, Fri, Sat (Europe/Berlin)")
        #expect(throws: DecodingError.self) {
            let empty = text.replacing("22:00", with: "06:00")
            _ = try JSONDecoder().decode(TimeWindow.self, from: Data(empty.utf8))
        }
    }
}

import Testing

@testable import QoSWorkloads

@Suite("Schedules of workloads")
struct ScheduleTests {
    private func fires(_ expression: String, after start: WallTime, count: Int) throws -> [WallTime] {
        let cron = try CronSchedule(expression, timeZone: "Europe/Made", zone: .europe)
        var times: [WallTime] = []
        var last = start
        for _ in 0..<count {
            let next = try #require(cron.next(after: last))
            times.append(next)
            last = next
        }
        return times
    }

    @Test("dates and seconds convert both ways, before and after 1970 and over leap days")
    func civil() {
        for seconds: Int64 in stride(from: -80_000_000_000, through: 80_000_000_000, by: 86_400 * 997 + 12_345) {
            #expect(CivilTime(secondsSince1970: seconds).secondsSince1970 == seconds)
        }
        #expect(time("2000-02-29 12:00").description == "2000-02-29 12:00:00Z")
        #expect(time("1969-12-31 23:59").description == "1969-12-31 23:59:00Z")
        #expect(CivilTime(year: 2026, month: 11, day: 22).weekday == 0)
        #expect(CivilTime(year: 1900, month: 1, day: 1).weekday == 1)
    }

    @Test("the zone rule gives the changes of the clock of known years")
    func posixRule() throws {
        #expect(
            ZoneRules.europe.transition(after: time("2026-01-01 00:00").secondsSince1970)?.at
                == time("2026-03-29 01:00").secondsSince1970)
        #expect(
            ZoneRules.europe.transition(after: time("2026-06-01 00:00").secondsSince1970)?.at
                == time("2026-10-25 01:00").secondsSince1970)
        let sydney = try #require(PosixZoneRule("AEST-10AEDT,M10.1.0,M4.1.0/3"))
        #expect(sydney.transitions(years: 2026...2026).map(\.offset) == [36_000, 39_600])
        let julian = try #require(PosixZoneRule("<-03>3<-02>,J60,J300/-1"))
        #expect(julian.transitions(years: 2024...2024).first?.time == time("2024-03-01 05:00").secondsSince1970)
        for text in [
            "", "CET", "CET-1CEST", "CET-1CEST,M13.1.0,M10.5.0", "CET-1CEST,M3.5.0", "C-1", "CET-1CEST,M3.5.0,M10.5.0x",
        ] {
            #expect(PosixZoneRule(text) == nil, "\(text)")
        }
    }

    @Test("a zone of the machine's database has the rules of its file's last line, too")
    func database() throws {
        let berlin = try ZoneDatabase().rules(named: "Europe/Berlin")
        for year in [1990, 2026, 2037, 2038, 2080] {
            let start = CivilTime(year: year, month: 6, day: 1).secondsSince1970
            #expect(berlin.offset(at: start) == 7200, "\(year)")
            #expect(berlin.offset(at: start + 200 * 86_400) == 3600, "\(year)")
        }
        #expect(throws: WorkloadScheduleError.self) { try ZoneDatabase().rules(named: "Europe/Nowhere") }
        #expect(throws: WorkloadScheduleError.self) { try ZoneDatabase().rules(named: "../../etc/passwd") }
        #expect(throws: WorkloadScheduleError.self) { try ZoneDatabase().rules(named: "Europe") }
    }

    @Test("a file that is cut anywhere is no zone, and does not crash")
    func cutZone() throws {
        let text = "TZif2"
        #expect(ZoneRules(tzif: Array(text.utf8)) == nil)
        #expect(ZoneRules(tzif: []) == nil)
        #expect(ZoneRules(tzif: [UInt8](repeating: 0xFF, count: 100)) == nil)
        #expect(ZoneRules(tzif: Array("TZif2".utf8) + [UInt8](repeating: 0x7F, count: 200)) == nil)
    }

    // MARK: Cron

    @Test(
        "a cron expression fires at these times",
        arguments: [
            ("30 2 * * *", "2026-11-22 12:00", ["2026-11-23 02:30", "2026-11-24 02:30"]),
            ("*/15 8-9 * * *", "2026-11-22 09:40", ["2026-11-22 09:45", "2026-11-23 08:00", "2026-11-23 08:15"]),
            ("0 4 1 JAN,jul *", "2026-11-22 12:00", ["2027-01-01 04:00", "2027-07-01 04:00"]),
            ("0 0 * * 1-5", "2026-11-20 12:00", ["2026-11-23 00:00", "2026-11-24 00:00"]),
            ("0 0 * * 7", "2026-11-20 12:00", ["2026-11-22 00:00", "2026-11-29 00:00"]),
            ("0 0 13 * 5", "2026-11-07 00:00", ["2026-11-13 00:00", "2026-11-20 00:00", "2026-11-27 00:00"]),
            ("0 0 */2 * 1", "2026-11-07 00:00", ["2026-11-09 00:00", "2026-11-23 00:00"]),
            ("0 0 29 2 *", "2026-01-01 00:00", ["2028-02-29 00:00", "2032-02-29 00:00"]),
            ("@hourly", "2026-12-31 23:30", ["2027-01-01 00:00", "2027-01-01 01:00"]),
            ("59 23 31 12 *", "2026-12-31 23:58", ["2026-12-31 23:59", "2027-12-31 23:59"]),
            ("* * * * *", "2026-12-31 23:58", ["2026-12-31 23:59", "2027-01-01 00:00"]),
            ("0 18 L * *", "2027-01-15 00:00", ["2027-01-31 18:00", "2027-02-28 18:00", "2027-03-31 18:00"]),
            ("0 0 L-2 2 *", "2027-01-15 00:00", ["2027-02-26 00:00", "2028-02-27 00:00"]),
            ("0 0 LW * *", "2027-01-15 00:00", ["2027-01-29 00:00", "2027-02-26 00:00", "2027-03-31 00:00"]),
            // 15 May 2027 is a Saturday, 15 August a Sunday; 1 May is a Saturday, and 31 October a Sunday.
            ("0 0 15W 5,8 *", "2027-01-15 00:00", ["2027-05-14 00:00", "2027-08-16 00:00"]),
            (
                "0 0 1W,31W 5,10 *", "2027-01-15 00:00",
                ["2027-05-03 00:00", "2027-05-31 00:00", "2027-10-01 00:00", "2027-10-29 00:00"]
            ),
            ("0 0 * * 5L", "2027-01-15 00:00", ["2027-01-29 00:00", "2027-02-26 00:00"]),
            ("0 0 ? * FRIL", "2027-01-15 00:00", ["2027-01-29 00:00", "2027-02-26 00:00"]),
            ("0 0 * * L5", "2027-01-15 00:00", ["2027-01-29 00:00"]),
            ("0 9 * * mon#1", "2027-01-15 00:00", ["2027-02-01 09:00", "2027-03-01 09:00", "2027-04-05 09:00"]),
            ("0 9 * * 1#5", "2027-01-15 00:00", ["2027-03-29 09:00", "2027-05-31 09:00"]),
            ("0 9 * 2 1#5", "2027-01-15 00:00", ["2044-02-29 09:00"]),
            ("0 9 1 * 7#2", "2027-01-15 00:00", ["2027-02-01 09:00", "2027-02-14 09:00"]),
            ("0 30 2 * * *", "2027-01-15 00:00", ["2027-01-15 02:30", "2027-01-16 02:30"]),
        ])
    func cron(expression: String, start: String, expected: [String]) throws {
        let cron = try CronSchedule(expression)
        var last = time(start)
        for text in expected {
            last = try #require(cron.next(after: last))
            #expect(last == time(text))
        }
    }

    @Test(
        "a cron expression that cannot be read or never fires is refused, with the mistake",
        arguments: [
            "", "* * * *", "* * * * * * *", "60 * * * * *", "* * * * L", "* * 1-5W * *", "* * 32W * *", "* * L-31 * *",
            "* * * * 1#6", "* * * * 8#1", "* * L,, * *", "? * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *",
            "* * * 13 *", "* * * * 8",
            "5-1 * * * *", "*/0 * * * *", "1,,2 * * * *", "a * * * *", "5/2 * * * *", "-1 * * * *", "1- * * * *",
            "0 0 30 2 *", "0 0 31 4,6,9,11 *", "99999 * * * *",
        ])
    func malformedCron(expression: String) {
        #expect(throws: WorkloadScheduleError.self) { try CronSchedule(expression) }
    }

    @Test("a field in front of the others is the second")
    func seconds() throws {
        let cron = try CronSchedule("*/20 59 23 * * *")
        var last = WallTime(secondsSince1970: time("2026-12-31 23:59").secondsSince1970 + 10)
        var fired: [Int64] = []
        for _ in 0..<4 {
            let next = try #require(cron.next(after: last))
            fired.append(next.secondsSince1970 - time("2026-12-31 23:59").secondsSince1970)
            last = next
        }
        #expect(fired == [20, 40, 86_400, 86_420])
    }

    @Test(
        "the error of a cron expression says what to write instead",
        arguments: [
            ("0 0 * * 5-0", "write 5-7"), ("0 0 * * fri-sun", "write 5-7"), ("0 0 * * fri-mon", "write 5-6,0-1"),
            ("0 22-2 * * *", "write 22-23,0-2"), ("0 0 * nov-jan *", "write 11-12,1"),
            ("5/10 * * * *", "write 5-59/10"),
            ("*/0 * * * *", "a step is 1 or more, as */2"), ("1,,2 * * * *", "leave out the comma"),
            ("0 0 * * L", "6L"), ("0 0 1-5W * *", "1-5, or one day as 15W"), ("0 0 0 1 1 ? 2027", "leave out the year"),
            ("@dayly", "@daily"), ("? * * * *", "write * for any minute"),
        ])
    func hints(expression: String, hint: String) throws {
        let error = try #require(throws: WorkloadScheduleError.self) { try CronSchedule(expression) }
        #expect(error.description.contains(hint), "\(error)")
    }

    @Test("a fixed time in the skipped hour fires once, at the end of the gap")
    func skippedHour() throws {
        let fired = try fires("30 2 * * *", after: time("2026-03-28 12:00", offset: 1), count: 2)
        #expect(fired == [time("2026-03-29 03:00", offset: 2), time("2026-03-30 02:30", offset: 2)])
        // Two fixed times in the gap are one.
        let twice = try fires("0,30 2 * * *", after: time("2026-03-29 01:00", offset: 1), count: 2)
        #expect(twice == [time("2026-03-29 03:00", offset: 2), time("2026-03-30 02:00", offset: 2)])
        // A time right after the gap is the same moment.
        let after = try fires("0 2,3 * * *", after: time("2026-03-29 01:00", offset: 1), count: 2)
        #expect(after == [time("2026-03-29 03:00", offset: 2), time("2026-03-30 02:00", offset: 2)])
    }

    @Test("a fixed time in the doubled hour fires once, in its first pass")
    func doubledHour() throws {
        let fired = try fires("30 2 * * *", after: time("2026-10-24 12:00", offset: 2), count: 2)
        #expect(fired == [time("2026-10-25 02:30", offset: 2), time("2026-10-26 02:30", offset: 1)])
    }

    @Test("an expression that begins with a star follows the elapsed time over both changes")
    func elapsed() throws {
        let forward = try fires("0 * * * *", after: time("2026-03-29 00:30", offset: 1), count: 3)
        #expect(
            forward == [
                time("2026-03-29 01:00", offset: 1), time("2026-03-29 03:00", offset: 2),
                time("2026-03-29 04:00", offset: 2),
            ])
        let back = try fires("30 * * * *", after: time("2026-10-25 01:45", offset: 2), count: 3)
        #expect(
            back == [
                time("2026-10-25 02:30", offset: 2), time("2026-10-25 02:30", offset: 1),
                time("2026-10-25 03:30", offset: 1),
            ])
    }

    /// Every minute of the days around both changes, looked at one by one.
    @Test(
        "the search agrees with a look at every minute",
        arguments: [
            "*/7 * * * *", "13 2 * * *", "0 1-3 * * *", "30 2,3 29 3 *", "0 0 * * 0", "45 23 * * 6", "* 2 * * *",
        ])
    func oracle(expression: String) throws {
        for start in [time("2026-03-28 12:00"), time("2026-10-24 12:00")] {
            let fields = try CronFields(expression)
            var expected: [Int64] = []
            var gap: (at: Int64, skipped: ClosedRange<Int64>)?
            for second in stride(from: start.secondsSince1970 + 60, to: start.secondsSince1970 + 2 * 86_400, by: 60) {
                let (before, now) = (ZoneRules.europe.offset(at: second - 60), ZoneRules.europe.offset(at: second))
                var fires = matches(fields, second + now)
                if now > before { gap = (second, (second + before)...(second + now - 60)) }
                if !fields.followsElapsedTime {
                    if let gap, gap.at == second {
                        fires =
                            fires
                            || stride(from: gap.skipped.lowerBound, through: gap.skipped.upperBound, by: 60)
                                .contains { matches(fields, $0) }
                    }
                    // The same local minute, an hour ago, at the other offset.
                    if ZoneRules.europe.offset(at: second - 3600) > now { fires = false }
                }
                if fires { expected.append(second) }
            }
            let found = try fires(expression, after: start, count: expected.count).map(\.secondsSince1970)
            #expect(found == expected)
        }
    }

    private func matches(_ fields: CronFields, _ local: Int64) -> Bool {
        let civil = CivilTime(secondsSince1970: local)
        return fields.matchesDate(civil) && fields.matchesHour(civil.hour) && fields.matchesMinute(civil.minute)
    }

    // MARK: Intervals

    @Test("S5 two runs of an interval begin at least the interval less the tolerance apart, whatever delays them")
    func interval() {
        let rule = IntervalRecurrence(interval: .seconds(100), tolerance: .seconds(20))
        let start = WallTime(secondsSince1970: 0)
        func at(_ seconds: Int64) -> WallTime { WallTime(secondsSince1970: seconds) }
        #expect(rule.first(from: start) == RunWindow(start: at(100), end: at(120)))
        #expect(rule.next(after: at(100), begunAt: at(110), keepsAll: false).start == at(200))
        #expect(rule.next(after: at(100), begunAt: at(190), keepsAll: false).start == at(270))
        #expect(rule.next(after: at(100), begunAt: at(990), keepsAll: true).start == at(200))
    }

    @Test("S5 a missed window is skipped for the next one on the grid, and a late one is not")
    func skipping() {
        let rule = IntervalRecurrence(interval: .seconds(100), tolerance: .seconds(20))
        func at(_ seconds: Int64) -> WallTime { WallTime(secondsSince1970: seconds) }
        let window = RunWindow(start: at(100), end: at(120))
        #expect(rule.skipping(window, now: at(199)) == nil)
        #expect(rule.skipping(window, now: at(315))?.start == at(300))
        #expect(rule.skipping(window, now: at(321))?.start == at(400))
    }

    @Test("a clock that is set back moves an interval's run to one interval at most, and repeats no cron run")
    func setBack() throws {
        func at(_ seconds: Int64) -> WallTime { WallTime(secondsSince1970: seconds) }
        let rule = IntervalRecurrence(interval: .seconds(100), tolerance: .zero)
        #expect(
            rule.replanned(RunWindow(start: at(5000), end: at(5000)), lastRun: at(4900), now: at(1000))?.start
                == at(1100))
        #expect(rule.replanned(RunWindow(start: at(1050), end: at(1050)), lastRun: at(950), now: at(1000)) == nil)
        let cron = CronRecurrence(cron: try CronSchedule("0 * * * *"))
        let planned = RunWindow(start: at(7200), end: at(7200))
        #expect(cron.replanned(planned, lastRun: at(3600), now: at(3500)) == nil)
        #expect(cron.replanned(planned, lastRun: at(90_000), now: at(3500))?.start == at(3600))
    }

    @Test("a schedule that cannot be kept is refused")
    func refused() {
        for schedule: WorkloadSchedule in [
            .every(.zero, tolerance: .zero), .every(.seconds(1), tolerance: .seconds(2)),
            .every(.seconds(1), tolerance: .seconds(-1)), .onFileEvents(FileEventTrigger(paths: [])),
            .onFileEvents(FileEventTrigger(paths: ["/srv", "photos"])), .onFileEvents(FileEventTrigger(paths: [""])),
        ] {
            #expect(throws: WorkloadScheduleError.self) { try schedule.validate() }
        }
    }

    @Test("a schedule survives its encoding, and one with an unknown zone does not decode")
    func coding() throws {
        for schedule: WorkloadSchedule in [
            .now, .after(.seconds(3)), .at(WallTime(secondsSince1970: 5)), .every(.seconds(100)),
            try .cron("0 4 * * *", timeZone: "Europe/Berlin"), .onFileEvents(FileEventTrigger(paths: ["/srv"])),
        ] {
            let bytes = try WorkloadCoding.encode(schedule)
            #expect(try WorkloadCoding.decode(WorkloadSchedule.self, from: bytes) == schedule)
        }
        let text = #"{"expression":"0 4 * * *","timeZone":"Mars/Olympus"}"#
        #expect(throws: DecodingError.self) { try WorkloadCoding.decode(CronSchedule.self, from: Array(text.utf8)) }
    }

    @Test("file events are collected until they stop, and up to a limit")
    func trigger() {
        let trigger = FileEventTrigger(paths: ["/srv"], settling: .seconds(2), limit: .seconds(10))
        func at(_ seconds: Int64) -> WallTime { WallTime(secondsSince1970: seconds) }
        #expect(trigger.due(eventAt: at(100), first: nil) == at(102))
        #expect(trigger.due(eventAt: at(105), first: at(100)) == at(107))
        #expect(trigger.due(eventAt: at(109), first: at(100)) == at(110))
    }
}

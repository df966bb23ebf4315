import QoSCore
import Testing

@Suite("The loop's looks")
struct LookScheduleTests {
    private static let millisecond: UInt64 = 1_000_000

    /// A schedule whose latest look through the queues began at a time.
    private static func looked(
        at time: UInt64, announcingSlow: Bool = false, isAsleep: Bool = false, blocked: UInt64 = 0
    ) -> LookSchedule {
        var schedule = LookSchedule()
        _ = schedule.workWaits(at: time, isAsleep: announcingSlow, told: .nothing)
        schedule.rescanBegan(at: time, isAsleep: isAsleep)
        schedule.workersLooked(blocked: blocked)
        return schedule
    }

    @Test("the first turn with waiting work looks at once", arguments: [false, true], LookSchedule.Told.allCases)
    func first(isAsleep: Bool, told: LookSchedule.Told) {
        var schedule = LookSchedule()
        #expect(schedule.nextRescan == nil)
        #expect(
            schedule.workWaits(at: 0, isAsleep: isAsleep, told: told) == .looks(announcingSlow: isAsleep))
    }

    @Test(
        "the interval after a look follows what the workers do",
        arguments: [
            (false, false, false, LookSchedule.rescanInterval),
            (false, false, true, LookSchedule.detectionInterval),
            // A worker has woken after the announcement: the slow look would come too late for it.
            (true, false, false, LookSchedule.rescanInterval),
            (true, false, true, LookSchedule.detectionInterval),
            (true, true, false, LookSchedule.slowInterval),
            (true, true, true, LookSchedule.slowInterval),
            // Workers that fell asleep after the announcement know of no slow look, and would not end it.
            (false, true, false, LookSchedule.rescanInterval),
            (false, true, true, LookSchedule.detectionInterval),
        ])
    func interval(announcingSlow: Bool, isAsleep: Bool, hasBlocked: Bool, interval: UInt64) {
        let schedule = Self.looked(
            at: 5, announcingSlow: announcingSlow, isAsleep: isAsleep, blocked: hasBlocked ? 1 : 0)
        #expect(schedule.nextRescan == 5 + interval)
    }

    @Test(
        "a turn before the next look waits, unless a raise was told or a slow look has become too late",
        arguments: [
            // A look each two milliseconds.
            (false, 1_999_999, false, .nothing, 2_000_000),
            (false, 2_000_000, false, .nothing, nil),
            (false, 1_999_999, true, .nothing, 2_000_000),
            // A raise was told: a millisecond after the last look.
            (false, 999_999, false, .itemRaised, 1_000_000),
            (false, 1_000_000, false, .itemRaised, nil),
            // The program raised a task itself.
            (false, 49_999, false, .taskRaised, 50_000),
            (false, 50_000, false, .taskRaised, nil),
            // A slow look is worth waiting for only while nothing can begin to wait.
            (true, 50_000_000, true, .nothing, 100_000_000),
            (true, 100_000_000, true, .nothing, nil),
            (true, 1, false, .nothing, nil),
            (true, 1, true, .itemRaised, nil),
        ] as [(Bool, UInt64, Bool, LookSchedule.Told, UInt64?)])
    func turn(isSlow: Bool, now: UInt64, isAsleep: Bool, told: LookSchedule.Told, next: UInt64?) {
        var schedule = Self.looked(at: 0, announcingSlow: isSlow, isAsleep: isSlow)
        let turn = schedule.workWaits(at: now, isAsleep: isAsleep, told: told)
        #expect(turn == next.map { .waits(until: $0) } ?? .looks(announcingSlow: isAsleep))
    }

    @Test("a raise that was told does not put off a look that is due earlier")
    func toldWhileDetecting() {
        var schedule = Self.looked(at: 0, blocked: 1)
        #expect(
            schedule.workWaits(at: 1, isAsleep: false, told: .itemRaised)
                == .waits(until: LookSchedule.detectionInterval))
    }

    @Test("once no work waits, the next turn with waiting work looks at once")
    func ended() {
        var schedule = Self.looked(at: 0)
        schedule.workEnded()
        #expect(schedule.nextRescan == nil)
        #expect(schedule.workWaits(at: 1, isAsleep: false, told: .nothing) == .looks(announcingSlow: false))
    }

    @Test("while work waits, looks come every two milliseconds, however often the loop turns")
    func rhythm() {
        var schedule = LookSchedule()
        var looks: [UInt64] = []
        for now in stride(from: 0, through: 20 * Self.millisecond, by: 100_000) {
            guard case .looks = schedule.workWaits(at: now, isAsleep: false, told: .nothing) else { continue }
            schedule.rescanBegan(at: now, isAsleep: false)
            schedule.workersLooked(blocked: 0)
            looks.append(now / Self.millisecond)
        }
        #expect(looks == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20])
    }

    @Test("after a worker has blocked, the looks come sooner, and less often again while no other one blocks")
    func detection() {
        var schedule = LookSchedule()
        var looks: [UInt64] = []
        // Two workers block before the first look, and a third one before the one at 1,750 µs.
        for now in stride(from: UInt64(0), through: 10_000_000, by: 10_000) {
            guard case .looks = schedule.workWaits(at: now, isAsleep: false, told: .nothing) else { continue }
            schedule.rescanBegan(at: now, isAsleep: false)
            schedule.workersLooked(blocked: now < 1_000_000 ? 2 : 3)
            looks.append(now / 10_000)
        }
        #expect(looks == [0, 25, 75, 175, 200, 250, 350, 550, 750, 950])
    }

    @Test("the looks at the workers begin an interval after a worker has woken, and end when all sleep")
    func watch() {
        var schedule = LookSchedule()
        #expect(schedule.nextWatch == nil)
        #expect(schedule.workersAwake(at: 10) == .begins)
        let next = 10 + LookSchedule.watchInterval
        #expect(schedule.nextWatch == next)
        #expect(schedule.workersAwake(at: next - 1) == .waits(until: next))
        #expect(schedule.workersAwake(at: next + 3) == .looks)
        #expect(schedule.nextWatch == next + 3 + LookSchedule.watchInterval)
        schedule.workersSleep()
        #expect(schedule.nextWatch == nil)
        #expect(schedule.workersAwake(at: next + 4) == .begins)
    }

    @Test("at the end of the clock, the next look is due at its last moment")
    func endOfTheClock() {
        #expect(Self.looked(at: .max).nextRescan == .max)
    }
}

/// The search for the next time of a cron expression. It walks the real time, minute by minute, and skips months, days
/// and hours that do not match. It never jumps over a change of the clock.
struct CronSearch {
    let fields: CronFields
    let zone: ZoneRules

    /// No expression that fires at all leaves out more than forty years: a weekday on 29 February around 2100.
    private static let horizon: Int64 = 41 * 366 * 86_400

    /// Returns the first second after a time at which the schedule fires.
    func next(after time: Int64) -> Int64? {
        guard fields.seconds != 1 else { return minute(after: time) }
        // The minute that a time is in may have more seconds to come.
        var minute = minute(after: time - Int64(zone.civil(at: time).second) - 1)
        while let begin = minute {
            for second in 0..<60 as Range<Int64> where fields.seconds & (1 << UInt64(second)) != 0 {
                if begin + second > time { return begin + second }
            }
            minute = self.minute(after: begin)
        }
        return nil
    }

    /// Returns the first full minute after a time at which the schedule fires.
    private func minute(after time: Int64) -> Int64? {
        let end = time &+ Self.horizon
        // The next full minute of the local clock. Offsets before 1972 have seconds.
        var now = time + 1
        now = roundedUpToMinute(now)
        while now < end {
            let change = zone.transition(after: now - 1)
            if let change, change.at == now, let fire = fire(atGap: change) { return fire }
            let limit = zone.transition(after: now)?.at ?? .max
            let local = zone.civil(at: now)
            if let step = stepToMatch(local) {
                now = min(now + step, limit)
                if now < limit { now = roundedUpToMinute(now) }
                continue
            }
            if isSecondPass(now) {
                now = min(now + 60, limit)
                continue
            }
            return now
        }
        return nil
    }

    private func roundedUpToMinute(_ time: Int64) -> Int64 {
        let seconds = Int64(zone.civil(at: time).second)
        guard seconds > 0 else { return time }
        // A change of the clock may come before the full minute.
        return min(time + 60 - seconds, zone.transition(after: time)?.at ?? .max)
    }

    /// Returns the seconds until the next time that may match; `nil` if this one does.
    private func stepToMatch(_ local: CivilTime) -> Int64? {
        guard fields.matchesDate(local) else {
            return 86_400 - Int64(local.hour * 3600 + local.minute * 60 + local.second)
        }
        guard fields.matchesHour(local.hour) else { return 3600 - Int64(local.minute * 60 + local.second) }
        guard local.second == 0, fields.matchesMinute(local.minute) else { return 60 - Int64(local.second) }
        return nil
    }

    /// Returns the end of a gap if a fixed time of the schedule falls into it.
    private func fire(atGap change: (at: Int64, before: Int64, after: Int64)) -> Int64? {
        guard change.after > change.before, !fields.followsElapsedTime else { return nil }
        var skipped = change.at + change.before
        while skipped < change.at + change.after {
            let local = CivilTime(secondsSince1970: skipped)
            guard let step = stepToMatch(local) else { return change.at }
            skipped += step
        }
        return nil
    }

    /// Whether the local clock shows this time for the second time, and the schedule has fired in the first pass.
    private func isSecondPass(_ time: Int64) -> Bool {
        guard !fields.followsElapsedTime, let change = zone.transition(atOrBefore: time) else { return false }
        return change.after < change.before && time + change.after < change.at + change.before
    }
}

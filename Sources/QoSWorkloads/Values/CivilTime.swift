/// A date and a time of day without a time zone, in the Gregorian calendar.
struct CivilTime: Sendable, Hashable {
    var year: Int
    /// 1…12.
    var month: Int
    /// 1…31.
    var day: Int
    /// 0…23.
    var hour: Int
    /// 0…59.
    var minute: Int
    /// 0…59.
    var second: Int

    init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Makes the time that a clock at offset zero shows.
    ///
    /// The arithmetic is "civil_from_days" of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013).
    init(secondsSince1970 seconds: Int64) {
        let days = Self.floor(seconds, 86_400)
        let rest = Int(seconds - days * 86_400)
        let shifted = days + 719_468
        let era = Self.floor(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * marchMonth + 2) / 5 + 1)
        month = Int(marchMonth < 10 ? marchMonth + 3 : marchMonth - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
    }

    /// The seconds since 1970 at offset zero; the inverse of ``init(secondsSince1970:)``.
    var secondsSince1970: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = Self.floor(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let marchMonth = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * marchMonth + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// The day of the week, 0 (Sunday) to 6 (Saturday).
    var weekday: Int {
        let days = Self.floor(secondsSince1970, 86_400)
        return Int(((days + 4) % 7 + 7) % 7)
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }
}

extension CivilTime: CustomStringConvertible {
    var description: String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day)) \(two(hour)):\(two(minute)):\(two(second))"
    }
}

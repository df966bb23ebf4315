public import Glibc

/// Times of files as nanoseconds since 1970, also before it.
public enum FileTime {
    /// Returns the nanoseconds of a time.
    public static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Returns the argument of utimensat(2) that sets the modification time, and leaves that of the last access.
    public static func setting(modified nanoseconds: Int64) -> [timespec] {
        let second: Int64 = 1_000_000_000
        let seconds = (nanoseconds - (nanoseconds < 0 ? second - 1 : 0)) / second
        let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds - seconds * second))
        // UTIME_OMIT: the time of the last access stays.
        return [timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2), time]
    }
}

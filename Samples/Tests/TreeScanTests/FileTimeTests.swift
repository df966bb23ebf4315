import Glibc
import SafeFiles
import SampleTestSupport
import Testing
import TreeScan

@Suite("Times of files as numbers")
struct FileTimeTests {
    private static let near = 9_200_000_000

    @Test(
        "a time comes back as it was",
        arguments: [
            (0, 0), (-1, 999_999_999), (1_700_000_000, 123_456_789), (-near, 0), (near - 1, 999_999_999),
            // Beyond the nanoseconds of an Int64: 1600, the turns at 1677 and 2262, 2300, the end of ext4 and of XFS.
            (-11_676_096_000, 0), (-9_223_372_037, 145_224_000), (-9_300_000_000, 999_999_000), (near, 1000),
            (9_223_372_036, 854_775_000), (9_223_372_037, 0), (10_413_792_000, 1000), (15_032_385_535, 999_999_000),
            (16_299_260_000, 0), (253_402_300_800, 0), (-253_402_300_800, 0), (9_999_999_999_999_999, 0),
            (-9_999_999_999_999_999, 0),
        ])
    func kept(seconds: Int, nanoseconds: Int) {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        let back = FileTime.time(FileTime.number(time))
        #expect(back.tv_sec == seconds && back.tv_nsec == nanoseconds)
        #expect(FileTime.isKept(time))
        #expect(FileTime.seconds(FileTime.number(time)) == Int64(seconds))
    }

    @Test("the nanoseconds since 1970 are the number of all times of today's files")
    func nanoseconds() {
        #expect(FileTime.number(timespec(tv_sec: 1_700_000_000, tv_nsec: 5)) == 1_700_000_000_000_000_005)
        #expect(FileTime.number(timespec(tv_sec: -5, tv_nsec: 7)) == -4_999_999_993)
    }

    @Test("no time traps, and the order of numbers is that of the times")
    func order() {
        var seconds = [Int.min, Int.min + 1, -10_000_000_000_000_000, Int.max - 1, Int.max, 10_000_000_000_000_000]
        for edge in [0, Self.near, Self.near + 13_000_000_000, 9_223_372_036] {
            for distance in -2...2 { seconds += [edge + distance, -edge + distance] }
        }
        let times = Set(seconds).sorted().flatMap { second in
            [0, 1, 999, 1000, 999_999_999].map { timespec(tv_sec: second, tv_nsec: $0) }
        }
        let numbers = times.map(FileTime.number)
        #expect(numbers == numbers.sorted())
        for number in numbers + [.min, .max] { #expect(FileTime.number(FileTime.time(number)) == number) }
        #expect(!FileTime.isKept(timespec(tv_sec: Int.max, tv_nsec: 0)))
    }

    @Test("random numbers lead to times that lead back")
    func random() {
        var generator = SeededGenerator(seed: 17)
        for _ in 0..<10_000 {
            let number = Int64.random(in: .min ... .max, using: &generator)
            #expect(FileTime.number(FileTime.time(number)) == number)
        }
    }

    @Test("times are shown as dates, also those of other millennia")
    func text() {
        func text(_ seconds: Int, _ nanoseconds: Int = 0) -> String {
            FileTime.text(FileTime.number(timespec(tv_sec: seconds, tv_nsec: nanoseconds)))
        }
        #expect(text(0) == "1970-01-01T00:00:00Z")
        #expect(text(951_782_400) == "2000-02-29T00:00:00Z")
        #expect(text(-1) == "1969-12-31T23:59:59Z")
        #expect(text(-11_676_096_000) == "1600-01-01T00:00:00Z")
        #expect(text(10_413_792_000) == "2300-01-01T00:00:00Z")
        #expect(text(253_402_300_800) == "+10000-01-01T00:00:00Z")
        #expect(text(-62_167_219_201) == "-0001-12-31T23:59:59Z")
        #expect(!text(.max).isEmpty && !text(.min).isEmpty)
        #expect(FileTime.text(-4_999_999_993, hasFraction: true) == "1969-12-31T23:59:55.000000007Z")
    }

    @Test("a stamp of any time can be asked for a doubt")
    func doubt() {
        for modified in [Int64.min, -1, .max] {
            for now in [Int64.min, 0, .max] {
                let stamp = FileStamp(size: 0, modified: modified, changed: modified, inode: 1, device: 1)
                #expect(stamp.isRacy(at: now) == (modified >= now.subtractingClamped(2_000_000_000)))
            }
        }
    }

    @Test("sums and differences end at the last number")
    func clamped() {
        #expect(Int64.max.addingClamped(1) == .max && Int64.min.addingClamped(-1) == .min)
        #expect(Int64.min.subtractingClamped(1) == .min && Int64.max.subtractingClamped(-1) == .max)
        #expect(UInt64.max.addingClamped(1) == .max && UInt64(0).subtractingClamped(1) == 0)
        #expect(Int64(2).addingClamped(3) == 5)
    }
}

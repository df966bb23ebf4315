import Testing

@testable import QoSKernel

@Suite("Durations as nanoseconds")
struct NanosecondsTests {
    @Test(
        "are rounded up, so that nobody wakes early, and held within range",
        arguments: [
            (.zero, 0),
            (.nanoseconds(1), 1),
            (.init(secondsComponent: 0, attosecondsComponent: 1), 1),
            (.init(secondsComponent: 0, attosecondsComponent: 1_000_000_000), 1),
            (.init(secondsComponent: 0, attosecondsComponent: 1_000_000_001), 2),
            (.init(secondsComponent: 1, attosecondsComponent: 999_999_999_999_999_999), 2_000_000_000),
            (.milliseconds(1_500), 1_500_000_000),
            (.seconds(86_400 * 365), 31_536_000_000_000_000),
            (.init(secondsComponent: -1, attosecondsComponent: 0), 0),
            (.init(secondsComponent: 0, attosecondsComponent: -1), 0),
            (.seconds(18_446_744_073), 18_446_744_073_000_000_000),
            (.seconds(18_446_744_074), .max),
            (.seconds(1_000_000_000_000), .max),
            (.init(secondsComponent: 18_446_744_073, attosecondsComponent: 709_551_615_000_000_001), .max),
        ] as [(Duration, UInt64)])
    func clamped(_ duration: Duration, _ nanoseconds: UInt64) {
        #expect(duration.clampedNanoseconds == nanoseconds)
    }

    @Test(
        "sums stop at the largest value",
        arguments: [(0, 0, 0), (1, 2, 3), (.max, 0, .max), (.max, 1, .max), (.max - 1, 1, .max), (.max, .max, .max)]
            as [(UInt64, UInt64, UInt64)])
    func saturating(_ left: UInt64, _ right: UInt64, _ sum: UInt64) {
        #expect(left.addingSaturating(right) == sum)
    }
}

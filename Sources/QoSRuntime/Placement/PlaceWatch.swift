/// Whether others take the processors of workers: what the loop has seen when it looked last. The loop's thread.
final class PlaceWatch {
    /// Whether these workers have their processors for themselves, by seat.
    var pins: [Int: PinWatch] = [:]

    /// Which processors others have taken.
    var taken = TakenProcessors()

    /// How often a worker had found none at the last look.
    var shortagesSeen: UInt64 = 0
}

import QoSCore

/// The number of workers to wake, for each class. Admission has admitted them, and counts them already.
///
/// The type holds numbers and not a set: a forgotten admission would stay counted forever, and keep the class below its
/// width.
struct AdmittedWorkers: Equatable, Sendable {
    /// A byte for each class, by rank. One call admits at most one worker of a class for each event, and has few
    /// events.
    private var counts: UInt64 = 0

    private static func one(rank: Int) -> UInt64 { 1 << UInt64(8 * rank) }

    /// Makes an empty value.
    init() {}

    /// Makes a value with one worker of each class of a set.
    init(_ classes: QoSClassSet) {
        var classes = classes
        while let qosClass = classes.popHighest() { counts += Self.one(rank: qosClass.rank) }
    }

    /// Makes a value with one worker.
    init(_ qosClass: QoSClass) {
        counts = Self.one(rank: qosClass.rank)
    }

    var isEmpty: Bool { counts == 0 }

    /// The number of workers of a class.
    func count(of qosClass: QoSClass) -> Int {
        Int(counts >> UInt64(8 * qosClass.rank) & 0xff)
    }

    mutating func add(_ more: AdmittedWorkers) {
        counts += more.counts
    }

    /// Takes one worker of the highest class; `nil` when no worker is left.
    mutating func popHighest() -> QoSClass? {
        guard counts != 0 else { return nil }
        let rank = (UInt64.bitWidth - 1 - counts.leadingZeroBitCount) / 8
        counts -= Self.one(rank: rank)
        return QoSClass(atRank: rank)
    }
}

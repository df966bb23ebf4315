/// The times in which low classes make room for the file I/O of the foreground.
///
/// Foreground I/O is that of userInitiated and above. When it begins, a low class keeps off: until the foreground has
/// paused for the class's time, or for that time at most. A foreground that goes on for longer than that does not starve
/// the class. From then on the class has one piece under way at a time. So a request of the foreground waits for one
/// piece at most. The pieces are as large as the disk does them in the class's time, as far as the last ones tell.
///
/// A pure value; time is an argument.
package struct IOWindow: Sendable, Hashable {
    /// The restraint of a class.
    package struct Rule: Sendable, Hashable {
        /// The time to keep off, in nanoseconds. It is also the longest delay of a piece.
        package let keepOff: Int64
        /// The largest piece beside foreground I/O, in bytes.
        package let largestPiece: Int
        /// The time that a piece beside foreground I/O should take, in nanoseconds.
        package let pieceTime: Int64
    }

    /// The smallest limit of a piece beside foreground I/O, in bytes. On a slow disk, smaller pieces take hardly less
    /// time.
    package static let smallestPiece = 64 << 10

    /// The limit before the speed of the disk is known, in bytes.
    package static let firstPiece = 128 << 10

    /// The time without foreground I/O after which the kernel may read ahead for low classes, in nanoseconds.
    ///
    /// It reads up to many megabytes ahead for each file, in requests that no piece limits. The next request of the
    /// foreground waits for them, so they must be rare.
    package static let readAheadPause: Int64 = 10_000_000_000

    /// The answer to a class that wants to begin a piece.
    package enum Answer: Sendable, Hashable {
        /// No foreground I/O is near: any number of pieces.
        case free
        /// One piece at a time, up to this size.
        case alone(largestPiece: Int)
        /// Not before this moment.
        case wait(until: SchedulerInstant)
        /// Not before the piece under way has ended.
        case waitForEnd
    }

    /// Returns the restraint of a class; `nil` for a class that none applies to.
    package static func rule(for qosClass: QoSClass) -> Rule? {
        switch qosClass {
        case .userInteractive, .userInitiated, .default: nil
        case .utility: Rule(keepOff: 25_000_000, largestPiece: 1 << 20, pieceTime: 2_000_000)
        case .background: Rule(keepOff: 100_000_000, largestPiece: 512 << 10, pieceTime: 1_000_000)
        }
    }

    /// Whether the I/O of a class makes the lower ones keep off.
    package static func isForeground(_ qosClass: QoSClass) -> Bool { qosClass >= .userInitiated }

    /// The state of one class.
    private struct Lane: Sendable, Hashable {
        /// The time since which the foreground has not paused for as long as the class keeps off.
        var busySince: SchedulerInstant?
        /// The start of the piece that is under way alone.
        var aloneSince: SchedulerInstant?
        /// The time that the last pieces took for a byte, in nanoseconds; `nil` before the first one.
        var timePerByte: Double?
    }

    private var lanes = [Lane](repeating: Lane(), count: QoSClass.allCases.count)
    private var foregroundUnderWay = 0
    private var foregroundEnded: SchedulerInstant?

    /// Makes a window without foreground I/O.
    package init() {}

    /// Notes that foreground I/O begins.
    package mutating func foregroundBegan(at now: SchedulerInstant) {
        for qosClass in QoSClass.allCases {
            guard let rule = Self.rule(for: qosClass) else { continue }
            if !isBusy(rule, at: now) { lanes[qosClass.rank].busySince = now }
        }
        foregroundUnderWay += 1
    }

    /// Notes that foreground I/O has ended.
    package mutating func foregroundEnded(at now: SchedulerInstant) {
        foregroundUnderWay = max(0, foregroundUnderWay - 1)
        foregroundEnded = max(now, foregroundEnded ?? now)
    }

    /// Returns whether a class may begin a piece now. It changes nothing.
    package func answer(to qosClass: QoSClass, at now: SchedulerInstant) -> Answer {
        guard let rule = Self.rule(for: qosClass), isBusy(rule, at: now) else { return .free }
        let lane = lanes[qosClass.rank]
        if let since = lane.busySince {
            let latest = since.advanced(byNanoseconds: rule.keepOff)
            guard latest <= now else {
                guard foregroundUnderWay == 0, let ended = foregroundEnded else { return .wait(until: latest) }
                return .wait(until: min(latest, ended.advanced(byNanoseconds: rule.keepOff)))
            }
        }
        return lane.aloneSince == nil ? .alone(largestPiece: Self.largestPiece(rule, lane)) : .waitForEnd
    }

    /// Whether the kernel may read ahead for low classes: only far from foreground I/O.
    package func allowsReadAhead(at now: SchedulerInstant) -> Bool {
        guard foregroundUnderWay == 0 else { return false }
        guard let foregroundEnded else { return true }
        return now >= foregroundEnded.advanced(byNanoseconds: Self.readAheadPause)
    }

    /// Notes that a piece begins after the answer ``Answer/alone(largestPiece:)``.
    package mutating func pieceBegan(of qosClass: QoSClass, at now: SchedulerInstant) {
        lanes[qosClass.rank].aloneSince = now
    }

    /// Notes that the piece has ended.
    ///
    /// - Parameter bytes: its size. Small pieces say little about the speed of the disk, and do not count for it.
    package mutating func pieceEnded(of qosClass: QoSClass, bytes: Int, at now: SchedulerInstant) {
        guard let since = lanes[qosClass.rank].aloneSince else { return }
        lanes[qosClass.rank].aloneSince = nil
        guard bytes >= Self.smallestPiece else { return }
        let found = Double(max(1, now.nanoseconds &- since.nanoseconds)) / Double(bytes)
        let former = lanes[qosClass.rank].timePerByte ?? found
        lanes[qosClass.rank].timePerByte = former + (found - former) * Self.weight
    }

    /// The weight of a piece in the speed of the disk.
    private static let weight = 0.25

    private static func largestPiece(_ rule: Rule, _ lane: Lane) -> Int {
        guard let timePerByte = lane.timePerByte else { return firstPiece }
        let bytes = min(Double(rule.largestPiece), Double(rule.pieceTime) / timePerByte)
        return max(smallestPiece, Int(bytes) / smallestPiece * smallestPiece)
    }

    /// Whether there is foreground I/O, or was within the time of the rule.
    private func isBusy(_ rule: Rule, at now: SchedulerInstant) -> Bool {
        if foregroundUnderWay > 0 { return true }
        guard let foregroundEnded else { return false }
        return now < foregroundEnded.advanced(byNanoseconds: rule.keepOff)
    }
}

/// Decides when a class may begin a piece of file I/O, and how large the piece may be (rule S4).
///
/// Two restraints count: the limits of the class, set by a governor or by the program, and the window after foreground
/// I/O. A pure value; time is an argument.
package struct IOGate: Sendable, Hashable {
    /// The largest piece of any class, in bytes. Between two pieces the work can be cancelled, and its class is looked at.
    package static let largestPiece = 1 << 20

    /// The smallest limit of a piece's size, in bytes.
    package static let smallestPiece = 4 << 10

    /// A piece of I/O that has begun.
    package struct Piece: Sendable, Hashable {
        /// The class that pays for it.
        package let qosClass: QoSClass
        /// Its size, at most the requested one.
        package let bytes: Int
        /// Whether no other restrained piece of the class may run beside it.
        package let isAlone: Bool
        /// Whether the kernel may read more than the piece.
        package let readsAhead: Bool

        /// Describes a piece.
        package init(qosClass: QoSClass, bytes: Int, isAlone: Bool, readsAhead: Bool = true) {
            (self.qosClass, self.bytes) = (qosClass, bytes)
            (self.isAlone, self.readsAhead) = (isAlone, readsAhead)
        }
    }

    /// The answer to a request.
    package enum Answer: Sendable, Hashable {
        /// The piece begins now; ``ended(_:at:)`` has to follow.
        case begin(Piece)
        /// Ask again at this moment.
        case wait(until: SchedulerInstant)
        /// Ask again when a piece has ended or the limits have changed.
        case waitForChange
    }

    private var bytes = [TokenBucket](repeating: TokenBucket(), count: QoSClass.allCases.count)
    private var operations = [TokenBucket](repeating: TokenBucket(), count: QoSClass.allCases.count)
    private var window = IOWindow()

    /// Makes a gate without limits.
    package init() {}

    /// Sets the limits of a class.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: 0 stops the class, `nil` is no limit.
    ///   - operationsPerSecond: the same, for pieces.
    package mutating func setLimits(
        bytesPerSecond: Int?, operationsPerSecond: Int?, for qosClass: QoSClass, at now: SchedulerInstant
    ) {
        bytes[qosClass.rank].setRate(bytesPerSecond, at: now)
        operations[qosClass.rank].setRate(operationsPerSecond, at: now)
    }

    /// The limits of a class.
    package func limits(of qosClass: QoSClass) -> (bytesPerSecond: Int?, operationsPerSecond: Int?) {
        (bytes[qosClass.rank].rate, operations[qosClass.rank].rate)
    }

    /// Whether a class may have to wait.
    package func restrains(_ qosClass: QoSClass) -> Bool {
        IOWindow.rule(for: qosClass) != nil || hasLimits(qosClass)
    }

    /// Whether a class has a limit of bytes or operations.
    package func hasLimits(_ qosClass: QoSClass) -> Bool {
        bytes[qosClass.rank].rate != nil || operations[qosClass.rank].rate != nil
    }

    /// Asks to begin a piece.
    ///
    /// - Parameters:
    ///   - qosClass: the class of the work at this moment.
    ///   - wanted: the size of the request, in bytes; 0 for a request without data. Such a request waits for no piece:
    ///     files that are synchronized at the same time share a commit of the file system.
    package mutating func requested(_ qosClass: QoSClass, bytes wanted: Int, at now: SchedulerInstant) -> Answer {
        let rank = qosClass.rank
        guard let forBytes = bytes[rank].nextStart(at: now), let forOperation = operations[rank].nextStart(at: now)
        else { return .waitForChange }
        let start = max(forBytes, forOperation)
        if start > now { return .wait(until: start) }
        var largest = Self.largestPiece
        var isAlone = false
        switch window.answer(to: qosClass, at: now) {
        case .free: break
        case .alone(let size): (largest, isAlone) = (size, wanted > 0)
        case .wait(let until): return .wait(until: until)
        case .waitForEnd: if wanted > 0 { return .waitForChange }
        }
        if let rate = bytes[rank].rate { largest = min(largest, max(Self.smallestPiece, rate / 16)) }
        let isLow = IOWindow.rule(for: qosClass) != nil
        let piece = Piece(
            qosClass: qosClass, bytes: max(0, min(wanted, largest)), isAlone: isAlone,
            readsAhead: bytes[rank].rate == nil && !(isLow && !window.allowsReadAhead(at: now)))
        bytes[rank].take(piece.bytes, at: now)
        operations[rank].take(1, at: now)
        if isAlone { window.pieceBegan(of: qosClass, at: now) }
        if IOWindow.isForeground(qosClass) { window.foregroundBegan(at: now) }
        return .begin(piece)
    }

    /// Notes that a piece has ended.
    package mutating func ended(_ piece: Piece, at now: SchedulerInstant) {
        if piece.isAlone { window.pieceEnded(of: piece.qosClass, bytes: piece.bytes, at: now) }
        if IOWindow.isForeground(piece.qosClass) { window.foregroundEnded(at: now) }
    }
}

public import QoSCore
import QoSKernel

/// Keeps the file I/O of low classes out of the way of the foreground, and within limits (rule S4).
///
/// Work asks the throttle before each piece of I/O. userInitiated and userInteractive begin at once. After their I/O,
/// utility keeps off for 25 ms and background for 100 ms. If the foreground goes on for longer, a low class continues
/// with one small piece at a time. A ``SystemMonitor`` that governs a scheduler sets limits of bytes and operations per
/// second for each class.
///
/// ```swift
/// // A library of your own that reads a file: 64 KiB of background work.
/// let rows = try await IOThrottle.process.perform(bytes: 65_536) { granted in
///     try readRows(upTo: granted)
/// }
/// ```
///
/// A disk serves all schedulers of a process, so one throttle serves them, too: ``process``. Make others for disks that
/// share nothing.
///
/// Threading: any thread.
public final class IOThrottle: Sendable {
    /// The throttle of the process.
    public static let process = IOThrottle()

    /// The I/O of a class so far.
    public struct Usage: Sendable, Hashable, Codable {
        /// The number of pieces.
        public internal(set) var operations: UInt64 = 0
        /// The bytes of the pieces, as granted.
        public internal(set) var bytes: UInt64 = 0
        /// The number of pieces that had to wait.
        public internal(set) var delayed: UInt64 = 0
        /// The time that pieces waited, in sum, in nanoseconds.
        public internal(set) var delayNanoseconds: UInt64 = 0

        init() {}
    }

    fileprivate struct State: Sendable {
        var gate = IOGate()
        var lines = [IOLine](repeating: IOLine(), count: QoSClass.allCases.count)
        var usage = [Usage](repeating: Usage(), count: QoSClass.allCases.count)
    }

    private let state = Lock(State())

    /// The longest time between two looks of a waiting piece, in nanoseconds. A raise of its work, or a lifted limit,
    /// counts within this time.
    private static let longestSleep: Int64 = 50_000_000

    /// Makes a throttle without limits.
    public init() {}

    // MARK: Limits

    /// Limits the file I/O of a class.
    ///
    /// A governed class is limited by its ``SystemMonitor``: do not set limits for it yourself.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: 0 stops the class, `nil` lifts the limit. A negative number counts as 0.
    ///   - operationsPerSecond: the same, for pieces of I/O.
    ///   - qosClass: the limited class.
    public func setLimits(bytesPerSecond: Int?, operationsPerSecond: Int?, for qosClass: QoSClass) {
        state.withLock {
            $0.gate.setLimits(
                bytesPerSecond: bytesPerSecond, operationsPerSecond: operationsPerSecond, for: qosClass, at: Self.now())
        }
    }

    /// Returns the limits of a class; `nil` for no limit.
    public func limits(for qosClass: QoSClass) -> (bytesPerSecond: Int?, operationsPerSecond: Int?) {
        state.withLock { $0.gate.limits(of: qosClass) }
    }

    /// Returns the I/O of a class so far.
    public func usage(of qosClass: QoSClass) -> Usage { state.withLock { $0.usage[qosClass.rank] } }

    // MARK: Pieces

    /// Waits until a piece of I/O may begin, then runs a body that does the piece and may block its thread.
    ///
    /// The class is that of the calling task at this moment, so raised work has the rights of the higher class from its
    /// next piece on. The body runs as in `QoS.withBlocking`: outside of the caller's actor, on a
    /// worker of the task's class.
    ///
    /// - Parameters:
    ///   - bytes: the size of the I/O; 0 for calls without data.
    ///   - body: does at most as many bytes as its argument says. Call again for the rest.
    /// - Throws: `CancellationError` if the task is cancelled before the piece begins, and the errors of the body.
    public func perform<Success: Sendable>(
        bytes: Int, _ body: @Sendable (_ granted: Int) throws -> Success
    ) async throws -> Success {
        try await performPiece(bytes: bytes) { piece in try body(piece.bytes) }
    }

    /// Does the same, and passes the body the class that pays for the piece.
    package func performPiece<Success: Sendable>(
        bytes: Int, _ body: @Sendable (IOGate.Piece) throws -> Success
    ) async throws -> Success {
        let piece = try await begin(bytes: bytes)
        defer { end(piece) }
        return try await QoS.withBlocking { () throws -> Success in try body(piece) }
    }

    /// Begins a piece, after any wait for it. ``end(_:)`` has to follow.
    ///
    /// - Throws: `CancellationError`.
    package nonisolated(nonsending) func begin(bytes: Int) async throws -> IOGate.Piece {
        try Task.checkCancellation()
        var qosClass = Self.callingClass
        if let piece = beginUnrestrained(qosClass, bytes) { return piece }
        let arrival = Self.now()
        var hasWaited = false
        // A call without data waits in no line, except for its tokens.
        while bytes <= 0, !state.withLock({ $0.gate.hasLimits(qosClass) }) {
            let now = Self.now()
            switch state.withLock({ $0.request(qosClass, bytes, at: now, since: hasWaited ? arrival : nil) }) {
            case .begin(let piece): return piece
            case .wait(let until): try await Self.sleep(nanoseconds: until.nanoseconds &- now.nanoseconds)
            case .waitForChange: try await Self.sleep(nanoseconds: Self.longestSleep)
            }
            hasWaited = true
            try Task.checkCancellation()
            qosClass = Self.callingClass
        }
        while true {
            // A piece waits behind those of its class. Its task may be raised meanwhile, and then belongs elsewhere.
            let waiter = PendingResult<Bool, Never>()
            let isFirst = state.withLock { $0.lines[qosClass.rank].enter(waiter) }
            hasWaited = hasWaited || !isFirst
            guard isFirst ? true : await isHandedLine(to: waiter, of: qosClass) else {
                try Task.checkCancellation()
                qosClass = Self.callingClass
                continue
            }
            while true {
                do {
                    try Task.checkCancellation()
                    let latest = Self.callingClass
                    if latest != qosClass {
                        leaveLine(of: qosClass)
                        qosClass = latest
                        break
                    }
                    let now = Self.now()
                    switch state.withLock({ $0.request(qosClass, bytes, at: now, since: hasWaited ? arrival : nil) }) {
                    case .begin(let piece):
                        if !piece.isAlone { leaveLine(of: qosClass) }
                        return piece
                    case .wait(let until):
                        hasWaited = true
                        try await Self.sleep(nanoseconds: until.nanoseconds &- now.nanoseconds)
                    case .waitForChange:
                        hasWaited = true
                        try await Self.sleep(nanoseconds: Self.longestSleep)
                    }
                } catch {
                    leaveLine(of: qosClass)
                    throw error
                }
            }
        }
    }

    /// Ends a piece.
    package func end(_ piece: IOGate.Piece) {
        state.withLock { $0.gate.ended(piece, at: Self.now()) }
        if piece.isAlone { leaveLine(of: piece.qosClass) }
    }

    /// Begins a piece of a class that never waits; `nil` for a piece that may have to.
    private func beginUnrestrained(_ qosClass: QoSClass, _ bytes: Int) -> IOGate.Piece? {
        let now = Self.now()
        return state.withLock { state in
            guard !state.gate.restrains(qosClass),
                case .begin(let piece) = state.request(qosClass, bytes, at: now, since: nil)
            else { return nil }
            return piece
        }
    }

    // MARK: Lines

    /// Waits for the line of a class, after the pieces that came before.
    ///
    /// - Returns: `false` if the task was cancelled or raised meanwhile. The line is not taken then.
    private nonisolated(nonsending) func isHandedLine(
        to waiter: PendingResult<Bool, Never>, of qosClass: QoSClass
    ) async -> Bool {
        await withTaskCancellationHandler {
            await withRaiseHandler(for: waiter) {
                // A raise from before the handler was there shows in the level.
                if Self.callingClass != qosClass { giveUp(waiter, in: qosClass) }
                return await waiter.get().get()
            } raised: { waiter, _ in
                self.giveUp(waiter, in: qosClass)
            }
        } onCancel: {
            giveUp(waiter, in: qosClass)
        }
    }

    private func giveUp(_ waiter: PendingResult<Bool, Never>, in qosClass: QoSClass) {
        guard state.withLock({ $0.lines[qosClass.rank].remove(waiter) }) else { return }
        waiter.resolve(with: .success(false))
    }

    private func leaveLine(of qosClass: QoSClass) {
        state.withLock { $0.lines[qosClass.rank].leave() }?.resolve(with: .success(true))
    }

    // MARK: Time and class

    private static var callingClass: QoSClass { QoS.currentLevel?.qosClass ?? .default }

    private static func now() -> SchedulerInstant {
        SchedulerInstant(nanoseconds: Int64(clamping: MonotonicClock.nanoseconds()))
    }

    private static func sleep(nanoseconds: Int64) async throws {
        let length = Duration.nanoseconds(min(longestSleep, max(1, nanoseconds)))
        try await Task.sleep(for: length, tolerance: length / 8, clock: .suspending)
    }
}

extension IOThrottle.State {
    /// Asks the gate, and counts a piece that begins.
    ///
    /// - Parameter arrival: the beginning of the wait; `nil` for a piece that has not waited.
    fileprivate mutating func request(
        _ qosClass: QoSClass, _ bytes: Int, at now: SchedulerInstant, since arrival: SchedulerInstant?
    ) -> IOGate.Answer {
        let answer = gate.requested(qosClass, bytes: bytes, at: now)
        guard case .begin(let piece) = answer else { return answer }
        usage[qosClass.rank].operations &+= 1
        usage[qosClass.rank].bytes &+= UInt64(piece.bytes)
        if let arrival {
            usage[qosClass.rank].delayed &+= 1
            usage[qosClass.rank].delayNanoseconds &+= UInt64(max(0, now.nanoseconds &- arrival.nanoseconds))
        }
        return answer
    }
}

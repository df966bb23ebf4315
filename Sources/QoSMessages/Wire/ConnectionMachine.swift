import QoSCore

// One side of a connection as a pure value (`Docs/Inside/Protocols/messages.md`).
//
// Problem. Two processes that do not trust each other share a byte stream. Each sends requests and answers those of the
// other. Each request ends exactly once, whatever the peer sends, and neither side keeps more than it has promised.
//
// Idea. Everything that is decided stands here: what a frame means, which frame goes next, who may send, what has ended.
// Time is an argument. A driver moves bytes: it gives what it read to `receive`, and writes what `takeOutput` returns.
// After each call it takes the events, and carries them out under no lock.
//
// The way of a request, at its sender:
//
//   send → waiting → queued → sending → sent → reply, error, cancel, deadline or close: exactly one event
//            (credit)  (level)  (chunks)
//
// and at its receiver:
//
//   receiving → running → answered → gone
//    (chunks)   (handler)  (level)
//
// Invariants, each checked by the model tests:
// - An own request has an entry in `own` until its answer has come, also after its caller has left: only then does its
//   credit return. So both sides count the same, and an answer to nothing is a violation.
// - A number of the peer has an entry in `incoming` until its answer has left. A number that is in use is refused.
// - Levels only rise. A raise that the peer does not know yet stands in `raises`, once for each request.
// - Control frames are bounded: one raise and one cancel for each open request, one sum of credits, one number of
//   holds, one pong.

/// One side of a connection.
struct ConnectionMachine: Sendable {
    typealias Number = UInt64

    /// The times that a side allows its peer, in nanoseconds.
    struct Patience: Sendable, Hashable {
        /// Until the peer's hello.
        var hello: UInt64 = 5_000_000_000
        /// In which the peer takes no byte although there are some.
        var stall: UInt64 = 30_000_000_000
    }

    /// The reason for which a connection has ended.
    enum Ending: Error, Sendable, Hashable {
        /// This side has closed it.
        case closed
        /// The peer has said goodbye.
        case goodbye(WireFailure)
        /// The peer has broken the protocol.
        case violation(WireViolation)
        /// The peer has not said hello, or has taken no bytes.
        case tooSlow
        /// The transport has ended, without a goodbye.
        case lost
    }

    /// The end of an own request without a reply.
    struct Failure: Error, Sendable, Hashable {
        enum Reason: Sendable, Hashable {
            case cancelled, timedOut, tooLarge, unknownRequest, incompatible
            /// The peer's error.
            case remote(WireFailure)
            case ended(Ending)
        }

        var reason: Reason
        var mayHaveBegun: Bool
    }

    /// A request or message of the peer, complete.
    struct Arrival: Sendable, Hashable {
        var number: Number
        var isMessage: Bool
        var type: UInt32
        var level: QoSLevel
        var context: WireContext
        /// The time at which the deadline passes.
        var deadline: UInt64?
        var payload: [UInt8]
        /// For ``ConnectionMachine/endWork(_:)``; `nil` if the peer gives no importance.
        var hold: PeerHolds.Key?
    }

    enum Event: Sendable, Hashable {
        /// The peer's hello has come.
        case ready(WireHello)
        case arrived(Arrival)
        /// An own request has its reply.
        case replied(Number, [UInt8])
        /// An own request or message has ended without one.
        case failed(Number, Failure)
        /// An own message has left.
        case sent(Number)
        /// The peer no longer waits for a handler's result.
        case cancelHandler(Number)
        case raiseHandler(Number, QoSLevel)
        /// Nothing more happens. Output may be left: a goodbye.
        case ended(Ending)
    }

    // MARK: State

    private enum Phase { case open, ending, ended }

    /// A request or message of this side.
    private struct Own {
        enum Phase { case waiting, queued, sending, sent }
        let number: Number
        let isMessage: Bool
        let type: UInt32
        let version: UInt16
        var level: QoSLevel
        let context: WireContext
        var deadline: UInt64?
        var payload: [UInt8]
        /// Bytes of context and payload.
        let size: Int
        var phase = Phase.waiting
        var queuedRank: Int?
        /// The context and payload while they are sent.
        var content: [UInt8] = []
        var offset = 0
        /// Whether the caller has its result already.
        var isAbandoned = false
        var reply: [UInt8] = []
        var replySize = 0
        var replyHasBegun = false
    }

    /// A request or message of the peer.
    private struct Incoming {
        enum Phase { case receiving, running, answered }
        let isMessage: Bool
        let type: UInt32
        var level: QoSLevel
        let contextLength: Int
        let hold: PeerHolds.Key?
        var content: [UInt8]
        var size: Int
        var phase = Phase.receiving
        var deadline: UInt64?
        /// Whether nobody waits for the result.
        var isCancelled = false
        var queuedRank: Int?
        var answer: [UInt8] = []
        var failureFlags: FrameFlags?
        var offset = 0
    }

    private enum Outgoing {
        case own(Number)
        case answer(Number)
    }

    private let limits: WireLimits
    private let types: [UInt32: UInt16]
    private let patience: Patience
    private var phase = Phase.open
    private var ending = Ending.closed
    private var parser = FrameParser()
    private(set) var peer: WireHello?
    private var events: [Event] = []

    private var own: [Number: Own] = [:]
    private var lastNumber: Number = 0
    /// Own requests and messages that the peer may hold, and their bytes.
    private(set) var inFlight = 0
    private(set) var inFlightBytes = 0
    private var messagesInFlight = 0
    private var messageBytesInFlight = 0
    /// Own requests without credit.
    private var waiting = LevelQueue<Number>()
    /// The number of ended requests that may still stand in the line.
    private var outdatedWaiting = 0
    /// The length of the line, with ended requests. For tests.
    var waitingCount: Int { waiting.count }

    private var incoming: [Number: Incoming] = [:]
    /// What this side holds of the peer: open requests, and messages for which no credit has left.
    private(set) var held = 0
    private(set) var heldBytes = 0
    private var runningMessages = 0
    /// The importance that the peer gives to this process.
    private(set) var holds: PeerHolds

    /// The explicit holds of this side, and the number that the peer has been told.
    private(set) var ownHolds = 0
    private var toldHolds = 0

    // Output, in the order in which it leaves.
    private var helloIsDue = true
    private var raises: [Number] = []
    private var raisedTo: [Number: QoSLevel] = [:]
    private var cancels: [Number] = []
    private var creditCount = 0
    private var creditBytes = 0
    private var pingIsDue = false
    private var pong: Number?
    private var queue = LevelQueue<Outgoing>()
    private var goodbye: WireFailure?

    private let helloDeadline: UInt64
    private var earliestDeadline = UInt64.max
    /// Since when output waits and the transport takes none.
    private var stalledSince: UInt64?

    /// - Parameter countsHolds: whether the peer may give importance to this process.
    init(
        limits: WireLimits, types: [UInt32: UInt16], patience: Patience = Patience(), countsHolds: Bool = false,
        now: UInt64
    ) {
        (self.limits, self.types, self.patience) = (limits, types, patience)
        holds = PeerHolds(isCounting: countsHolds)
        let (time, overflows) = now.addingReportingOverflow(patience.hello)
        helloDeadline = overflows ? .max : time
    }

    /// Whether the connection has ended, for this side.
    var hasEnded: Bool { phase != .open }
    /// Requests and messages of this side that have not ended, with those whose callers have left.
    var openCount: Int { own.count }
    /// Requests of the peer that have not ended.
    var incomingCount: Int { incoming.count }

    /// Returns what has happened since the last call, in order.
    mutating func takeEvents() -> [Event] {
        if events.isEmpty { return [] }
        defer { events = [] }
        return events
    }

    // MARK: Own requests

    /// Begins a request or a message. Its end is an event.
    mutating func send(
        _ payload: [UInt8], type: UInt32, version: UInt16, isMessage: Bool, at level: QoSLevel, _ context: WireContext,
        deadline: UInt64?, now: UInt64
    ) -> Number {
        lastNumber += 1
        let number = lastNumber
        var context = context
        context.remaining = deadline.map { $0 - min($0, now) }
        let size = context.content.count + payload.count
        let entry = Own(
            number: number, isMessage: isMessage, type: type, version: version, level: level, context: context,
            deadline: deadline, payload: payload, size: size)
        own[number] = entry
        if phase != .open {
            fail(number, .ended(ending), mayHaveBegun: false)
        } else if let deadline, deadline <= now {
            fail(number, .timedOut, mayHaveBegun: false)
        } else if peer == nil || !refuse(number) {
            earliestDeadline = min(earliestDeadline, deadline ?? .max)
            own[number]?.queuedRank = level.qosClass.rank
            waiting.append(number, rank: level.qosClass.rank)
            admit()
        }
        return number
    }

    /// Fails an own request that the peer does not take. Returns whether it did.
    private mutating func refuse(_ number: Number) -> Bool {
        guard let peer, let entry = own[number] else { return false }
        let version = peer.types[entry.type]
        if version == nil {
            fail(number, .unknownRequest, mayHaveBegun: false)
        } else if version != entry.version {
            fail(number, .incompatible, mayHaveBegun: false)
        } else if entry.size > peer.limits.largestMessage {
            fail(number, .tooLarge, mayHaveBegun: false)
        } else {
            return false
        }
        return true
    }

    /// Ends an own request for its caller. Nothing happens if it has ended.
    mutating func cancel(_ number: Number) {
        guard let entry = own[number], !entry.isAbandoned else { return }
        abandon(number, entry, .cancelled)
    }

    /// Raises an own request, wherever it is. Never lowers it.
    mutating func raise(_ number: Number, to level: QoSLevel) {
        guard let entry = own[number], !entry.isAbandoned, level > entry.level else { return }
        own[number]?.level = level
        let rank = level.qosClass.rank
        if let queued = entry.queuedRank, queued < rank {
            own[number]?.queuedRank = rank
            if entry.phase == .waiting {
                waiting.append(number, rank: rank)
            } else {
                queue.append(.own(number), rank: rank)
            }
        }
        // The header of a request that has not begun to leave carries the new level.
        if entry.phase == .sending || entry.phase == .sent, !entry.isMessage {
            if raisedTo.updateValue(level, forKey: number) == nil { raises.append(number) }
        }
    }

    private mutating func abandon(_ number: Number, _ entry: Own, _ reason: Failure.Reason) {
        switch entry.phase {
        case .waiting, .queued:
            fail(number, reason, mayHaveBegun: false)
        case .sending, .sent:
            own[number]?.isAbandoned = true
            // The rest of a message leaves: nobody could tell the peer's credits otherwise. So the peer's handler runs.
            let mayHaveBegun = entry.phase == .sent || entry.isMessage
            events.append(.failed(number, Failure(reason: reason, mayHaveBegun: mayHaveBegun)))
            if entry.isMessage { return }
            own[number]?.payload = []
            own[number]?.content = []
            own[number]?.reply = []
            own[number]?.queuedRank = nil
            cancels.append(number)
            raisedTo[number] = nil
        }
    }

    /// Ends an own request with an error, and gives back its credit.
    private mutating func fail(_ number: Number, _ reason: Failure.Reason, mayHaveBegun: Bool) {
        guard let entry = own[number] else { return }
        forget(entry)
        if !entry.isAbandoned {
            events.append(.failed(number, Failure(reason: reason, mayHaveBegun: mayHaveBegun)))
        }
    }

    private mutating func forget(_ entry: Own) {
        own[entry.number] = nil
        raisedTo[entry.number] = nil
        if entry.phase == .waiting {
            // A peer that gives no credit lets nothing out of the line, while callers give up.
            outdatedWaiting += 1
            if outdatedWaiting > 64, outdatedWaiting * 2 > waiting.count {
                waiting.keep { [own] number, rank in
                    own[number]?.queuedRank == rank && own[number]?.phase == .waiting
                }
                outdatedWaiting = 0
            }
        }
        if entry.phase != .waiting, !entry.isMessage || entry.phase == .queued {
            inFlight -= 1
            inFlightBytes -= entry.size
            if entry.isMessage {
                messagesInFlight -= 1
                messageBytesInFlight -= entry.size
            }
            admit()
        }
    }

    /// Gives credit to those that wait for it, highest first.
    private mutating func admit() {
        guard let peer, phase == .open else { return }
        while inFlight < peer.limits.requests {
            let next = waiting.first { [own] number, rank in
                own[number]?.queuedRank == rank && own[number]?.phase == .waiting
            }
            // The first one waits until its bytes fit, so that small ones do not starve it.
            guard let number = next, var entry = own[number], entry.size <= peer.limits.bytes - inFlightBytes else {
                return
            }
            waiting.removeFirst()
            inFlight += 1
            inFlightBytes += entry.size
            if entry.isMessage {
                messagesInFlight += 1
                messageBytesInFlight += entry.size
            }
            entry.phase = .queued
            entry.queuedRank = entry.level.qosClass.rank
            own[number] = entry
            queue.append(.own(number), rank: entry.level.qosClass.rank)
        }
    }

    // MARK: Importance

    /// Begins an explicit hold of this side.
    mutating func hold() { ownHolds += 1 }

    /// Ends an explicit hold of this side.
    mutating func release() { if ownHolds > 0 { ownHolds -= 1 } }

    /// The number of holds for the peer. Further ones are not told, but count when others end.
    private var holdsToTell: Int { min(ownHolds, PeerHolds.mostExplicit) }

    /// Notes that a handler of the peer, and the work that followed from it, have ended.
    mutating func endWork(_ hold: PeerHolds.Key) { holds.endWork(hold) }

    // MARK: Answers

    /// Ends a request of the peer with a reply.
    mutating func reply(_ number: Number, _ payload: [UInt8]) {
        guard let entry = incoming[number], let peer else { return }
        if entry.isCancelled {
            answer(number, WireFailure(.cancelled).content, [])
        } else if payload.count > peer.limits.messageBytes {
            answer(number, WireFailure(.tooLarge).content, [])
        } else {
            answer(number, payload, nil)
        }
    }

    /// Ends a request of the peer with an error.
    mutating func fail(_ number: Number, _ failure: WireFailure, hasBegun: Bool) {
        answer(number, failure.content, hasBegun ? [] : .notBegun)
    }

    private mutating func answer(_ number: Number, _ content: [UInt8], _ failureFlags: FrameFlags?) {
        guard phase == .open, var entry = incoming[number], entry.phase != .answered, !entry.isMessage else { return }
        entry.phase = .answered
        entry.content = []
        entry.answer = content
        entry.failureFlags = failureFlags
        let rank = entry.level.qosClass.rank
        entry.queuedRank = rank
        incoming[number] = entry
        queue.append(.answer(number), rank: rank)
    }

    /// Ends a message of the peer: its handler has returned.
    mutating func endMessage(_ number: Number) {
        guard phase == .open, let entry = incoming[number], entry.isMessage, entry.phase == .running else { return }
        incoming[number] = nil
        holds.answer(entry.hold)
        runningMessages -= 1
        creditCount += 1
        creditBytes += entry.size
    }

    /// Credits go in batches, but never while the peer may wait for the last ones.
    private var creditIsDue: Bool {
        creditCount > 0
            && (runningMessages == 0 || creditCount >= (limits.requests + 3) / 4 || creditBytes >= limits.bytes / 4)
    }

    // MARK: Input

    /// Takes bytes of the peer. Bytes after the end are ignored.
    mutating func receive(_ bytes: ArraySlice<UInt8>, now: UInt64) {
        guard phase == .open else { return }
        var parser = FrameParser()
        swap(&parser, &self.parser)
        do throws(WireViolation) {
            try parser.take(bytes) { (frame) throws(WireViolation) in
                if phase == .open { try handle(frame, now) }
            }
        } catch {
            end(.violation(error), saying: WireFailure(.violation, error.rawValue))
        }
        swap(&parser, &self.parser)
    }

    private mutating func handle(_ frame: Frame, _ now: UInt64) throws(WireViolation) {
        if peer == nil, frame.kind != .hello, frame.kind != .goodbye { throw .noHello }
        switch frame.kind {
        case .hello: try handleHello(frame)
        case .request, .message: try handleArrival(frame, now)
        case .chunk:
            if frame.flags.contains(.ofReply) { try handleReply(frame) } else { try handleChunk(frame, now) }
        case .reply: try handleReply(frame)
        case .error: try handleError(frame)
        case .cancel: handleCancel(frame.number)
        case .raise: handleRaise(frame)
        case .hold: try holds.setExplicit(frame.number)
        case .credit: try handleCredit(frame)
        case .goodbye: end(.goodbye(try WireFailure(frame.content)), saying: nil)
        case .ping: if !frame.flags.contains(.answer) { pong = frame.number }
        }
    }

    private mutating func handleHello(_ frame: Frame) throws(WireViolation) {
        guard peer == nil else { throw .secondHello }
        let hello = try WireHello(frame.content)
        guard hello.version == WireHello.version else {
            end(
                .goodbye(WireFailure(.incompatible, "wire version \(hello.version)")),
                saying: WireFailure(.incompatible, "wire version \(WireHello.version)"))
            return
        }
        peer = hello
        events.append(.ready(hello))
        for number in own.keys.sorted() { _ = refuse(number) }
        admit()
    }

    private mutating func handleArrival(_ frame: Frame, _ now: UInt64) throws(WireViolation) {
        let number = frame.number
        guard number != 0, incoming[number] == nil else { throw .badNumber }
        guard held < limits.requests else { throw .tooManyRequests }
        held += 1
        let isMessage = frame.kind == .message
        incoming[number] = Incoming(
            isMessage: isMessage, type: frame.type, level: frame.level, contextLength: frame.contextLength,
            hold: holds.begin(at: frame.level), content: [], size: 0)
        try add(frame, to: number, now)
    }

    private mutating func handleChunk(_ frame: Frame, _ now: UInt64) throws(WireViolation) {
        guard let entry = incoming[frame.number], entry.phase == .receiving else { throw .unexpectedChunk }
        try add(frame, to: frame.number, now)
    }

    /// Adds a frame's content to a message of the peer, and starts it when it is complete.
    private mutating func add(_ frame: Frame, to number: Number, _ now: UInt64) throws(WireViolation) {
        guard frame.content.count <= limits.bytes - heldBytes else { throw .tooManyBytes }
        heldBytes += frame.content.count
        guard var entry = incoming.removeValue(forKey: number) else { throw .unknownNumber }
        entry.size += frame.content.count
        guard entry.size <= limits.messageBytes else { throw .tooManyBytes }
        if entry.content.isEmpty { entry.content = frame.content } else { entry.content += frame.content }
        guard !frame.flags.contains(.more) else {
            incoming[number] = entry
            return
        }
        entry.phase = .running
        let context = try WireContext(entry.content.prefix(entry.contextLength))
        entry.deadline = context.remaining.map { remaining in
            let (time, overflows) = now.addingReportingOverflow(remaining)
            return overflows ? .max : time
        }
        let payload = entry.contextLength == 0 ? entry.content : Array(entry.content[entry.contextLength...])
        entry.content = []
        incoming[number] = entry
        if entry.isMessage { runningMessages += 1 }
        guard types[entry.type] != nil else {
            finishUnrun(number, entry, WireFailure(.unknownRequest))
            return
        }
        if let deadline = entry.deadline {
            guard deadline > now else {
                finishUnrun(number, entry, WireFailure(.timedOut))
                return
            }
            earliestDeadline = min(earliestDeadline, deadline)
        }
        holds.beginWork(entry.hold)
        events.append(
            .arrived(
                Arrival(
                    number: number, isMessage: entry.isMessage, type: entry.type, level: entry.level, context: context,
                    deadline: entry.deadline, payload: payload, hold: entry.hold)))
    }

    /// Ends a complete message of the peer that has no handler, or no time.
    private mutating func finishUnrun(_ number: Number, _ entry: Incoming, _ failure: WireFailure) {
        if entry.isMessage { endMessage(number) } else { fail(number, failure, hasBegun: false) }
    }

    private mutating func handleCancel(_ number: Number) {
        guard let entry = incoming[number], !entry.isMessage else { return }
        switch entry.phase {
        case .receiving:
            fail(number, WireFailure(.cancelled), hasBegun: false)
        case .running where !entry.isCancelled:
            incoming[number]?.isCancelled = true
            events.append(.cancelHandler(number))
        case .running, .answered: break
        }
    }

    private mutating func handleRaise(_ frame: Frame) {
        guard let entry = incoming[frame.number], frame.level > entry.level else { return }
        incoming[frame.number]?.level = frame.level
        holds.raise(entry.hold, to: frame.level)
        let rank = frame.level.qosClass.rank
        switch entry.phase {
        case .receiving: break
        case .running: events.append(.raiseHandler(frame.number, frame.level))
        case .answered:
            if let queued = entry.queuedRank, queued < rank {
                incoming[frame.number]?.queuedRank = rank
                queue.append(.answer(frame.number), rank: rank)
            }
        }
    }

    private mutating func handleReply(_ frame: Frame) throws(WireViolation) {
        let isFirst = frame.kind == .reply
        try checkReply(frame, isFirst: isFirst)
        // Taken out, so that the bytes are appended in place. Not before the checks: a violation ends all that is in the
        // table.
        guard var entry = own.removeValue(forKey: frame.number) else { throw .unknownNumber }
        entry.replyHasBegun = true
        entry.replySize += frame.content.count
        if !entry.isAbandoned {
            if entry.reply.isEmpty { entry.reply = frame.content } else { entry.reply += frame.content }
        }
        if frame.flags.contains(.more) {
            own[frame.number] = entry
        } else {
            forget(entry)
            if !entry.isAbandoned { events.append(.replied(frame.number, entry.reply)) }
        }
    }

    private func checkReply(_ frame: Frame, isFirst: Bool) throws(WireViolation) {
        guard let entry = own[frame.number] else { throw .unknownNumber }
        guard !entry.isMessage, entry.phase == .sent, entry.replyHasBegun != isFirst else { throw .unexpectedChunk }
        guard frame.content.count <= limits.messageBytes - entry.replySize else { throw .tooManyBytes }
    }

    private mutating func handleError(_ frame: Frame) throws(WireViolation) {
        guard let entry = own[frame.number] else { throw .unknownNumber }
        // A request that was cancelled on its way is answered before it is complete.
        guard !entry.isMessage, entry.phase == .sent || entry.phase == .sending && entry.isAbandoned,
            !entry.replyHasBegun
        else { throw .badNumber }
        let failure = try WireFailure(frame.content)
        fail(frame.number, .remote(failure), mayHaveBegun: !frame.flags.contains(.notBegun))
    }

    private mutating func handleCredit(_ frame: Frame) throws(WireViolation) {
        let bytes = Int(frame.type)
        guard let count = Int(exactly: frame.number), count <= messagesInFlight, bytes <= messageBytesInFlight else {
            throw .badContent
        }
        messagesInFlight -= count
        messageBytesInFlight -= bytes
        inFlight -= count
        inFlightBytes -= bytes
        admit()
    }

    // MARK: Output

    /// Whether ``takeOutput(limit:now:)`` has bytes.
    var hasOutput: Bool {
        switch phase {
        case .open:
            helloIsDue || !raises.isEmpty || !cancels.isEmpty || creditIsDue || pingIsDue || pong != nil
                || holdsToTell != toldHolds || !queue.isEmpty
        case .ending: goodbye != nil
        case .ended: false
        }
    }

    /// Returns the next bytes for the peer: control frames, then the highest message's next frame, and so on.
    ///
    /// - Parameter limit: no further frame begins after as many bytes.
    mutating func takeOutput(limit: Int, now: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        if phase == .open { takeControl(&bytes) }
        while phase == .open, bytes.count < limit, let next = takeNext() {
            switch next {
            case .own(let number): takeOwn(number, &bytes, now)
            case .answer(let number): takeAnswer(number, &bytes)
            }
        }
        if let failure = goodbye.take() {
            Frame(kind: .goodbye, content: failure.content).write(to: &bytes)
        }
        if phase == .ending { phase = .ended }
        stalledSince = phase == .open && hasOutput ? now : nil
        return bytes
    }

    /// Notes that the transport takes no bytes at the moment, though there are some.
    mutating func outputStalls(now: UInt64) {
        if stalledSince == nil { stalledSince = now }
    }

    /// Notes that the transport has taken all bytes.
    mutating func outputFlows() {
        stalledSince = nil
    }

    private mutating func takeControl(_ bytes: inout [UInt8]) {
        if helloIsDue {
            helloIsDue = false
            Frame(kind: .hello, content: WireHello(limits: limits, types: types).content).write(to: &bytes)
        }
        if holdsToTell != toldHolds {
            toldHolds = holdsToTell
            Frame(kind: .hold, number: UInt64(toldHolds)).write(to: &bytes)
        }
        for number in raises {
            guard let level = raisedTo.removeValue(forKey: number) else { continue }
            Frame(kind: .raise, level: level, number: number).write(to: &bytes)
        }
        raises.removeAll(keepingCapacity: true)
        for number in cancels { Frame(kind: .cancel, number: number).write(to: &bytes) }
        cancels.removeAll(keepingCapacity: true)
        if creditIsDue {
            Frame(kind: .credit, number: UInt64(creditCount), type: UInt32(clamping: creditBytes)).write(to: &bytes)
            held -= creditCount
            heldBytes -= creditBytes
            (creditCount, creditBytes) = (0, 0)
        }
        if pingIsDue {
            pingIsDue = false
            Frame(kind: .ping).write(to: &bytes)
        }
        if let number = pong.take() { Frame(kind: .ping, flags: .answer, number: number).write(to: &bytes) }
    }

    private mutating func takeNext() -> Outgoing? {
        queue.removeFirst { [own, incoming] item, rank in
            switch item {
            case .own(let number): own[number]?.queuedRank == rank && own[number]?.phase != .waiting
            case .answer(let number): incoming[number]?.queuedRank == rank
            }
        }
    }

    private mutating func takeOwn(_ number: Number, _ bytes: inout [UInt8], _ now: UInt64) {
        guard var entry = own.removeValue(forKey: number) else { return }
        let isFirst = entry.phase == .queued
        var contextLength = 0
        if isFirst {
            var context = entry.context
            context.remaining = entry.deadline.map { $0 - min($0, now) }
            let fields = context.content
            contextLength = fields.count
            entry.content = fields.isEmpty ? entry.payload : fields + entry.payload
            entry.payload = []
            entry.phase = .sending
        }
        let kind: FrameKind = isFirst ? (entry.isMessage ? .message : .request) : .chunk
        let end = min(entry.content.count, entry.offset + Frame.maximumContent)
        let isLast = end == entry.content.count
        Frame.writeHeader(
            kind, level: entry.level, flags: isLast ? [] : .more, number: number, type: entry.type,
            contextLength: contextLength, contentLength: end - entry.offset, to: &bytes)
        bytes.append(contentsOf: entry.content[entry.offset..<end])
        entry.offset = end
        guard isLast else {
            let rank = entry.level.qosClass.rank
            entry.queuedRank = rank
            own[number] = entry
            queue.prepend(.own(number), rank: rank)
            return
        }
        entry.queuedRank = nil
        entry.content = []
        entry.phase = .sent
        guard entry.isMessage else {
            own[number] = entry
            return
        }
        if !entry.isAbandoned { events.append(.sent(number)) }
        forget(entry)
    }

    private mutating func takeAnswer(_ number: Number, _ bytes: inout [UInt8]) {
        guard var entry = incoming.removeValue(forKey: number) else { return }
        let kind: FrameKind = entry.offset > 0 ? .chunk : entry.failureFlags == nil ? .reply : .error
        let end = min(entry.answer.count, entry.offset + Frame.maximumContent)
        let isLast = end == entry.answer.count
        var flags: FrameFlags = entry.failureFlags ?? []
        if !isLast { flags.insert(.more) }
        if kind == .chunk { flags.insert(.ofReply) }
        Frame.writeHeader(
            kind, level: entry.level, flags: flags, number: number, type: 0, contextLength: 0,
            contentLength: end - entry.offset, to: &bytes)
        bytes.append(contentsOf: entry.answer[entry.offset..<end])
        entry.offset = end
        if isLast {
            holds.answer(entry.hold)
            held -= 1
            heldBytes -= entry.size
        } else {
            let rank = entry.level.qosClass.rank
            entry.queuedRank = rank
            incoming[number] = entry
            queue.prepend(.answer(number), rank: rank)
        }
    }

    // MARK: Time

    /// The next time at which ``tick(now:)`` has something to do. It may come too early.
    var nextTime: UInt64? {
        guard phase == .open else { return nil }
        var next = earliestDeadline
        if peer == nil { next = min(next, helloDeadline) }
        if let stalledSince { next = min(next, stalledSince.addingClamped(patience.stall)) }
        return next == .max ? nil : next
    }

    /// Ends what has run out of time.
    mutating func tick(now: UInt64) {
        guard phase == .open else { return }
        if peer == nil, now >= helloDeadline {
            end(.tooSlow, saying: WireFailure(.tooSlow, "no hello"))
            return
        }
        if let stalledSince, now >= stalledSince.addingClamped(patience.stall) {
            end(.tooSlow, saying: WireFailure(.tooSlow, "no bytes taken"))
            return
        }
        guard now >= earliestDeadline else { return }
        earliestDeadline = .max
        for (number, entry) in own.sorted(by: { $0.key < $1.key }) where !entry.isAbandoned {
            guard let deadline = entry.deadline else { continue }
            if deadline <= now {
                abandon(number, entry, .timedOut)
            } else {
                earliestDeadline = min(earliestDeadline, deadline)
            }
        }
        for (number, entry) in incoming.sorted(by: { $0.key < $1.key }) where entry.phase == .running {
            guard let deadline = entry.deadline, !entry.isCancelled else { continue }
            if deadline <= now {
                incoming[number]?.isCancelled = true
                events.append(.cancelHandler(number))
            } else {
                earliestDeadline = min(earliestDeadline, deadline)
            }
        }
    }

    // MARK: The end

    /// Ends the connection from this side.
    ///
    /// - Parameter failure: the reason for the peer.
    mutating func close(saying failure: WireFailure = WireFailure(.ending)) {
        end(.closed, saying: failure)
    }

    /// Notes that the transport has ended. No bytes leave any more.
    mutating func lose() {
        end(.lost, saying: nil)
        phase = .ended
        goodbye = nil
    }

    private mutating func end(_ ending: Ending, saying failure: WireFailure?) {
        guard phase == .open else { return }
        phase = failure == nil ? .ended : .ending
        goodbye = failure
        self.ending = ending
        for (number, entry) in own.sorted(by: { $0.key < $1.key }) where !entry.isAbandoned {
            events.append(
                .failed(number, Failure(reason: .ended(ending), mayHaveBegun: entry.phase == .sent)))
        }
        for (number, entry) in incoming.sorted(by: { $0.key < $1.key })
        where entry.phase == .running && !entry.isCancelled {
            events.append(.cancelHandler(number))
        }
        own = [:]
        incoming = [:]
        raisedTo = [:]
        raises = []
        cancels = []
        (waiting, queue) = (LevelQueue(), LevelQueue())
        (inFlight, inFlightBytes, messagesInFlight, messageBytesInFlight) = (0, 0, 0, 0)
        (held, heldBytes, creditCount, creditBytes, runningMessages) = (0, 0, 0, 0, 0)
        holds.drop()
        events.append(.ended(ending))
    }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

/// Items in the order of their classes, and within a class in the order in which they came.
///
/// One pick in 16 takes the lowest class first, so that no class starves (rule C7). An item that moves to a higher class
/// leaves its old entry behind. The owner's test skips it.
struct LevelQueue<Item: Sendable>: Sendable {
    private struct Line: Sendable {
        var items: [Item] = []
        var head = 0

        var first: Item? { head < items.count ? items[head] : nil }

        mutating func append(_ item: Item) { items.append(item) }

        mutating func prepend(_ item: Item) {
            if head > 0 {
                head -= 1
                items[head] = item
            } else {
                items.insert(item, at: 0)
            }
        }

        mutating func removeFirst() {
            head += 1
            if head == items.count {
                items.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 64, head * 2 >= items.count {
                items.removeFirst(head)
                head = 0
            }
        }
    }

    private var lines = [Line](repeating: Line(), count: 5)
    private var picks: UInt8 = 0
    private var chosen = 0

    var isEmpty: Bool { lines.allSatisfy { $0.first == nil } }

    var count: Int { lines.reduce(0) { $0 + $1.items.count - $1.head } }

    /// Removes the items that are not valid. O(items).
    mutating func keep(_ isValid: (Item, Int) -> Bool) {
        for rank in lines.indices {
            lines[rank] = Line(items: lines[rank].items.dropFirst(lines[rank].head).filter { isValid($0, rank) })
        }
    }

    mutating func append(_ item: Item, rank: Int) { lines[rank].append(item) }

    mutating func prepend(_ item: Item, rank: Int) { lines[rank].prepend(item) }

    /// Returns the item that ``removeFirst()`` takes.
    mutating func first(_ isValid: (Item, Int) -> Bool) -> Item? {
        let lowestFirst = picks & 15 == 15
        for step in 0..<5 {
            let rank = lowestFirst ? step : 4 - step
            while let item = lines[rank].first {
                if isValid(item, rank) {
                    chosen = rank
                    return item
                }
                lines[rank].removeFirst()
            }
        }
        return nil
    }

    /// Removes the item that ``first(_:)`` has returned.
    mutating func removeFirst() {
        picks &+= 1
        lines[chosen].removeFirst()
    }

    mutating func removeFirst(_ isValid: (Item, Int) -> Bool) -> Item? {
        guard let item = first(isValid) else { return nil }
        removeFirst()
        return item
    }
}

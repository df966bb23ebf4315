import QoSCore
import QoSKernel
import QoSRuntime
import ServiceContextModule
import Synchronization

// The driver of one side of a connection: it carries out what `ConnectionMachine` decides.
//
// Every call follows the same steps:
//
//   1. Under the lock: the machine takes the call, and its events become actions (`State.drain`).
//   2. Under no lock: the actions. They resume callers, start handlers, raise and cancel them.
//   3. The transport is told to flush. It takes bytes from the machine, and writes them on the calling thread.
//
// So a caller's request leaves on the caller's thread, and a handler's reply on the handler's. The loop's thread reads.
//
// A raise goes the same way. `withRaiseHandler` calls `raise(_:to:)` on the raising thread, and the frame leaves at once.
// At the other side the loop's thread takes it, and raises the handler's task. If that task waits for a request of its
// own, its raise handler does the same again: that is the chain over three processes.

/// The way of bytes between two connections.
protocol Transport: AnyObject, Sendable {
    /// Takes the connection's output and moves it. Any thread.
    func flush()
}

/// One side of a connection.
///
/// Threading: any thread. No action runs under the lock.
final class Connection: Sendable {
    struct Settings: Sendable {
        var handlers: ServiceHandlers
        var limits: ServiceLimits
        var propagators: [ServicePropagator]
        var scheduler: QoSScheduler?
        var patience = ConnectionMachine.Patience()
        /// The highest level of the peer's work.
        var ceiling: QoSLevel?
        /// The clamp that the peer's holds keep off; `nil` for none.
        var clamp: ServiceClamp?

        /// Whether the peer gives importance: not if all its work is background.
        fileprivate var countsHolds: Bool { clamp != nil && ceiling.map(PeerHolds.isImportant) ?? true }
    }

    fileprivate struct State {
        var machine: ConnectionMachine
        var transport: (any Transport)?
        var calls: [ConnectionMachine.Number: OutgoingCall] = [:]
        var runs: [ConnectionMachine.Number: HandlerRun] = [:]
        var readiness: [CheckedContinuation<ConnectionMachine.Ending?, Never>] = []
        var isReady = false
        var ending: ConnectionMachine.Ending?
        var death: ServiceError.Reason?
        var idle: [CheckedContinuation<Void, Never>] = []
        var onEnd: (@Sendable () -> Void)?
        /// The time for which the loop's timer is set.
        var alarm = UInt64.max
        /// Whether the peer held something when the clamp was told last.
        var isHeld = false
    }

    fileprivate enum Action {
        case holdsChanged
        case resume(OutgoingCall, Result<[UInt8], ServiceError>)
        case start(HandlerRun, ConnectionMachine.Arrival)
        case raise(HandlerRun, QoSLevel)
        case cancel(HandlerRun)
        case ready([CheckedContinuation<ConnectionMachine.Ending?, Never>], ConnectionMachine.Ending?)
        case ended((@Sendable () -> Void)?)
        case alarm(UInt64?)
    }

    let peer: ServicePeer
    private let settings: Settings
    private let state: Lock<State>

    /// What a handler, and the tasks that it makes, have of their request. Detached tasks have nothing of it.
    struct Origin: Sendable {
        /// The time at which the requester gives up, for the requests that the handler sends. Monotonic nanoseconds.
        var deadline: UInt64?
        /// Keeps the request's hold until the last of the tasks has ended (rule M3).
        fileprivate var work: FollowingWork?
    }

    @TaskLocal static var origin: Origin?

    init(peer: ServicePeer, settings: Settings) {
        self.peer = peer
        self.settings = settings
        state = Lock(
            State(
                machine: ConnectionMachine(
                    limits: settings.limits.wire, types: settings.handlers.types, patience: settings.patience,
                    countsHolds: settings.countsHolds, now: MonotonicClock.nanoseconds())))
    }

    /// Begins to talk.
    ///
    /// - Parameter onEnd: called once, when the connection and its handlers have ended.
    func start(_ transport: any Transport, onEnd: @escaping @Sendable () -> Void = {}) {
        var hasEnded = false
        act { state in
            state.transport = transport
            hasEnded = state.ending != nil
            if !hasEnded { state.onEnd = onEnd }
        }
        if hasEnded { onEnd() }
    }

    // MARK: The three steps

    private func act(flushes: Bool = true, _ body: (inout State) -> Void) {
        let (actions, transport) = state.withLock { state in
            body(&state)
            return (Self.drain(&state), state.transport)
        }
        for action in actions { perform(action) }
        if flushes { transport?.flush() }
    }

    /// Turns the machine's events into actions.
    private static func drain(_ state: inout State) -> [Action] {
        var actions: [Action] = []
        if state.machine.holds.isHeld != state.isHeld {
            state.isHeld.toggle()
            // First: a handler must not begin under the clamp.
            actions.append(.holdsChanged)
        }
        for event in state.machine.takeEvents() {
            switch event {
            case .ready:
                state.isReady = true
                actions.append(.ready(state.readiness, nil))
                state.readiness = []
            case .arrived(let arrival):
                let run = HandlerRun(arrival.number)
                state.runs[arrival.number] = run
                actions.append(.start(run, arrival))
            case .replied(let number, let payload): state.end(number, .success(payload), &actions)
            case .sent(let number): state.end(number, .success([]), &actions)
            case .failed(let number, let failure): state.end(number, failure, &actions)
            case .cancelHandler(let number): if let run = state.runs[number] { actions.append(.cancel(run)) }
            case .raiseHandler(let number, let level):
                if let run = state.runs[number] { actions.append(.raise(run, level)) }
            case .ended(let ending):
                state.ending = ending
                actions.append(.ready(state.readiness, ending))
                state.readiness = []
                // While handlers run, the peer's share of connections is taken, and a service that ends waits for them.
                if state.runs.isEmpty { actions.append(.ended(state.onEnd.take())) }
            }
        }
        let next = state.machine.nextTime
        if let next, next < state.alarm {
            state.alarm = next
            actions.append(.alarm(next))
        } else if state.machine.hasEnded, state.alarm != .max {
            state.alarm = .max
            actions.append(.alarm(nil))
        }
        return actions
    }

    private func perform(_ action: Action) {
        switch action {
        case .holdsChanged: settings.clamp?.holdsChanged(of: self)
        case .resume(let call, let result): call.resume(result)
        case .start(let run, let arrival): start(run, arrival)
        case .raise(let run, let level): run.raise(to: limited(level), on: settings.scheduler)
        case .cancel(let run): run.cancel()
        case .ready(let continuations, let ending):
            for continuation in continuations { continuation.resume(returning: ending) }
        case .ended(let body): body?()
        case .alarm(let time): MessageLoop.shared?.setAlarm(for: self, at: time) { $0.alarmRings() }
        }
    }

    private func alarmRings() {
        act { state in
            state.alarm = .max
            state.machine.tick(now: MonotonicClock.nanoseconds())
        }
    }

    private func limited(_ level: QoSLevel) -> QoSLevel { settings.ceiling.map { min($0, level) } ?? level }

    // MARK: For the transport

    /// Takes bytes of the peer. One thread at a time.
    func receive(_ bytes: ArraySlice<UInt8>) {
        act { $0.machine.receive(bytes, now: MonotonicClock.nanoseconds()) }
    }

    /// Returns bytes for the peer. An empty array: there are none for now.
    ///
    /// - Parameter deferred: gets what is to be done then. The caller performs it under no lock: a caller that is being
    ///   raised or cancelled may wait for the lock, and its task cannot be resumed before that.
    func takeOutput(_ deferred: inout Deferred) -> [UInt8] {
        let (bytes, actions) = state.withLock { state in
            var bytes: [UInt8] = []
            while state.machine.hasOutput, bytes.isEmpty {
                bytes = state.machine.takeOutput(limit: 65_536, now: MonotonicClock.nanoseconds())
            }
            return (bytes, Self.drain(&state))
        }
        deferred.actions += actions
        return bytes
    }

    /// What is to be done after output was taken.
    struct Deferred: Sendable {
        fileprivate var actions: [Action] = []

        init() {}
    }

    func perform(_ deferred: Deferred) { for action in deferred.actions { perform(action) } }

    /// Whether the connection has ended and its last bytes have been taken.
    var isOver: Bool { state.withLock { $0.machine.hasEnded && !$0.machine.hasOutput } }

    /// Whether the connection has ended.
    var hasEnded: Bool { state.withLock { $0.machine.hasEnded } }

    func outputStalls() { act(flushes: false) { $0.machine.outputStalls(now: MonotonicClock.nanoseconds()) } }

    func outputFlows() { act(flushes: false) { $0.machine.outputFlows() } }

    /// Notes that no byte comes or goes any more.
    ///
    /// - Parameter death: the peer's death, if it is known.
    func lose(_ death: ServiceError.Reason?) {
        act { state in
            // The transport reports the end of its descriptor, too.
            if !state.machine.hasEnded { state.death = death }
            state.machine.lose()
        }
    }

    /// Gives up the transport: it has closed.
    func detach() { state.withLock { $0.transport = nil } }

    // MARK: Life

    /// Ends the connection.
    func close(_ failure: WireFailure = WireFailure(.ending)) { act { $0.machine.close(saying: failure) } }

    /// Waits for the peer's hello.
    func waitUntilReady() async throws(ServiceError) {
        let ending: ConnectionMachine.Ending? = await withCheckedContinuation { continuation in
            let known: ConnectionMachine.Ending?? = state.withLock { state in
                if let ending = state.ending { return .some(ending) }
                if state.isReady { return .some(nil) }
                state.readiness.append(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
        guard let ending else { return }
        let reason =
            switch ending {
            case .goodbye(let failure) where [.refused, .incompatible].contains(failure.code):
                ServiceError.reason(ending, death: nil)
            default:
                ServiceError.Reason.serviceUnavailable("\(ServiceError.reason(ending, death: state.withLock(\.death)))")
            }
        throw ServiceError(reason, mayHaveBegun: false)
    }

    /// Waits until no handler runs. Call it when the connection has ended.
    func waitUntilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.runs.isEmpty { state.idle.append(continuation) }
                return state.runs.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    /// The numbers of open requests, for tests: own ones, the peer's, running handlers.
    var open: (own: Int, incoming: Int, running: Int) {
        state.withLock { ($0.machine.openCount, $0.machine.incomingCount, $0.runs.count) }
    }

    // MARK: Importance

    /// Begins an explicit hold of this side, for ``release()``. Has no effect when the connection has ended.
    func hold() { act { $0.machine.hold() } }

    /// Ends an explicit hold of this side.
    func release() { act { $0.machine.release() } }

    /// Whether the peer holds something.
    var isHeld: Bool { state.withLock { $0.machine.holds.isHeld } }

    /// The holds of the peer; `nil` for none.
    var holder: ServiceImportance.Holder? {
        let holds = state.withLock { $0.machine.holds }
        guard holds.isHeld else { return nil }
        return ServiceImportance.Holder(peer: peer, requests: holds.importantRequests, scopes: holds.explicit)
    }

    fileprivate func endWork(_ hold: PeerHolds.Key) { act(flushes: false) { $0.machine.endWork(hold) } }

    // MARK: Own requests

    /// Sends a request and waits for its end, or a message and waits until it has left.
    ///
    /// - Returns: the reply's payload; empty for a message.
    nonisolated(nonsending) func send(
        _ payload: [UInt8], _ type: ServiceType, isMessage: Bool, timeout: Duration?
    ) async throws(ServiceError) -> [UInt8] {
        let call = OutgoingCall(type.name)
        let context = outgoingContext
        let now = MonotonicClock.nanoseconds()
        let ends = [timeout.map { now.addingSaturating($0.clampedNanoseconds) }, Self.origin?.deadline]
            .compactMap(\.self).min()
        let result: Result<[UInt8], ServiceError> = await withTaskCancellationHandler {
            await withRaiseHandler(for: call) {
                // Not earlier: a raise between this look and the handler would be lost.
                let level = QoS.currentLevel?.propagated ?? .default
                return await unsafe withUnsafeContinuation { (continuation: OutgoingCall.Continuation) in
                    act { state in
                        unsafe call.continuation = continuation
                        let number = state.machine.send(
                            payload, type: type.id, version: type.version, isMessage: isMessage,
                            at: level.raised(to: call.raised), context, deadline: ends, now: now)
                        call.number = number
                        state.calls[number] = call
                        if call.isCancelled { state.machine.cancel(number) }
                    }
                }
            } raised: { call, level in
                self.raise(call, to: level.propagated)
            }
        } onCancel: {
            act { state in
                call.isCancelled = true
                if let number = call.number { state.machine.cancel(number) }
            }
        }
        return try result.get()
    }

    private func raise(_ call: OutgoingCall, to level: QoSLevel) {
        act { state in
            call.raised = level.raised(to: call.raised)
            if let number = call.number { state.machine.raise(number, to: level) }
        }
    }

    private var outgoingContext: WireContext {
        var context = WireContext()
        if let activity = QoS.activity {
            context.origin = WireContext.Origin(id: activity.id, reason: activity.reason)
        }
        if !settings.propagators.isEmpty, let service = ServiceContext.current {
            for propagator in settings.propagators { propagator.inject(service, &context.baggage) }
        }
        return context
    }

    // MARK: Handlers

    private func start(_ run: HandlerRun, _ arrival: ConnectionMachine.Arrival) {
        ServiceSteps.reach(.requestArrived)
        let level = limited(arrival.level)
        let body: @concurrent @Sendable () async -> Void = { await self.handle(run, arrival, level) }
        let priority = TaskPriority(level.qosClass)
        let task: Task<Void, Never>
        if let scheduler = settings.scheduler {
            let executor = scheduler.executor(for: level)
            task = Task.detached(executorPreference: executor, priority: priority, operation: body)
        } else {
            task = Task.detached(priority: priority, operation: body)
        }
        run.begin(task, on: settings.scheduler)
    }

    private func handle(_ run: HandlerRun, _ arrival: ConnectionMachine.Arrival, _ level: QoSLevel) async {
        ServiceSteps.reach(.handlerBegan)
        // No variable has the work: it ends here, unless a task goes on with it.
        let result = await result(of: arrival, level, arrival.hold.map { FollowingWork(self, $0) })
        ServiceSteps.reach(.handlerEnded)
        let (idle, onEnd) = state.withLock { state -> ([CheckedContinuation<Void, Never>], (@Sendable () -> Void)?) in
            state.runs[run.number] = nil
            guard state.runs.isEmpty else { return ([], nil) }
            defer { state.idle = [] }
            return (state.idle, state.ending == nil ? nil : state.onEnd.take())
        }
        onEnd?()
        act { state in
            if arrival.isMessage {
                state.machine.endMessage(arrival.number)
            } else {
                switch result {
                case .success(let payload): state.machine.reply(arrival.number, payload)
                case .failure(let failure):
                    state.machine.fail(arrival.number, failure.wire, hasBegun: failure.hasBegun)
                }
            }
        }
        ServiceSteps.reach(.replySent)
        for continuation in idle { continuation.resume() }
    }

    private struct HandlerFailure: Error {
        var wire: WireFailure
        var hasBegun = true
    }

    private func result(
        of arrival: ConnectionMachine.Arrival, _ level: QoSLevel, _ work: FollowingWork?
    ) async -> Result<[UInt8], HandlerFailure> {
        guard let handler = settings.handlers.table[arrival.type], handler.isMessage == arrival.isMessage else {
            return .failure(HandlerFailure(wire: WireFailure(.unknownRequest), hasBegun: false))
        }
        if Task.isCancelled { return .failure(HandlerFailure(wire: WireFailure(.cancelled), hasBegun: false)) }
        let call = ServiceCall(
            peer: peer, level: level,
            deadline: arrival.deadline.map { deadline in
                let now = MonotonicClock.nanoseconds()
                return .now + .nanoseconds(Int64(clamping: deadline - min(deadline, now)))
            },
            activity: arrival.context.origin.map { ($0.id, $0.reason) }, session: ServiceSession(borrowing: self))
        let activity = arrival.context.origin.map {
            RunningActivity(
                continuing: Activity.Originator(process: peer.pid, activity: $0.id), reason: $0.reason)
        }
        defer { activity?.end() }
        var context = ExecutionContext(activity: activity?.activity)
        if !arrival.context.baggage.isEmpty, !settings.propagators.isEmpty {
            var service = ServiceContext.topLevel
            for propagator in settings.propagators { propagator.extract(arrival.context.baggage, &service) }
            context.serviceContext = service
        }
        do {
            return .success(
                try await Self.$origin.withValue(Origin(deadline: arrival.deadline, work: work)) {
                    try await context.bind { try await handler.run(arrival.payload, call) }
                })
        } catch let error as Unreadable {
            return .failure(HandlerFailure(wire: WireFailure(.unreadable, error.text), hasBegun: false))
        } catch let failure as ServiceFailure {
            return .failure(HandlerFailure(wire: WireFailure(.failed, number: failure.code, failure.text)))
        } catch is CancellationError {
            return .failure(HandlerFailure(wire: WireFailure(.cancelled)))
        } catch {
            return .failure(HandlerFailure(wire: WireFailure(.failed, "\(error)")))
        }
    }
}

extension Connection.State {
    /// Takes the caller of an own request that has ended.
    fileprivate mutating func end(
        _ number: ConnectionMachine.Number, _ result: Result<[UInt8], ServiceError>,
        _ actions: inout [Connection.Action]
    ) {
        guard let call = calls.removeValue(forKey: number) else { return }
        actions.append(.resume(call, result))
    }

    fileprivate mutating func end(
        _ number: ConnectionMachine.Number, _ failure: ConnectionMachine.Failure, _ actions: inout [Connection.Action]
    ) {
        guard let name = calls[number]?.name else { return }
        end(number, .failure(ServiceError(failure, of: name, death: death)), &actions)
    }
}

/// A caller that waits for the end of its request.
// SAFETY: the variables are touched under the connection's lock only. The thread that takes the call out of the
// connection's table resumes it, once.
@safe
final class OutgoingCall: @unchecked Sendable {
    typealias Continuation = UnsafeContinuation<Result<[UInt8], ServiceError>, Never>

    let name: String
    var number: ConnectionMachine.Number?
    var continuation: Continuation?
    /// Set if the caller was cancelled, perhaps before the request began.
    var isCancelled = false
    /// The level to which the caller was raised, perhaps before the request began.
    var raised: QoSLevel?

    init(_ name: String) { self.name = name }

    /// Resumes the caller. The call is in no table any more.
    func resume(_ result: Result<[UInt8], ServiceError>) { unsafe continuation?.resume(returning: result) }
}

/// The task of a handler. A raise or a cancellation may come before the task.
private final class HandlerRun: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var raised: QoSLevel?
        var isCancelled = false
    }

    let number: ConnectionMachine.Number
    private let state = Lock(State())

    init(_ number: ConnectionMachine.Number) { self.number = number }

    func begin(_ task: Task<Void, Never>, on scheduler: QoSScheduler?) {
        let (raised, isCancelled) = state.withLock { state in
            state.task = task
            return (state.raised, state.isCancelled)
        }
        if isCancelled { task.cancel() }
        if let raised { Self.raise(task, to: raised, on: scheduler) }
    }

    func raise(to level: QoSLevel, on scheduler: QoSScheduler?) {
        let task = state.withLock { state in
            state.raised = level.raised(to: state.raised)
            return state.task
        }
        if let task { Self.raise(task, to: level, on: scheduler) }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    private static func raise(_ task: Task<Void, Never>, to level: QoSLevel, on scheduler: QoSScheduler?) {
        if let scheduler {
            scheduler.raise(task, to: level.qosClass)
        } else {
            task.escalatePriority(to: TaskPriority(level.qosClass))
        }
        ServiceSteps.reach(.handlerRaised)
    }
}

/// The work that follows from a request of a peer: the handler, and the tasks that it makes and does not detach. They
/// have it as a task-local value, so it ends with the last of them.
private final class FollowingWork: Sendable {
    private let connection: Connection
    private let hold: PeerHolds.Key

    init(_ connection: Connection, _ hold: PeerHolds.Key) { (self.connection, self.hold) = (connection, hold) }

    deinit { connection.endWork(hold) }
}

/// Named points on the way of a request, at which tests let a process die.
package enum ServiceStep: String, Sendable, CaseIterable {
    case accepted, requestArrived, handlerBegan, handlerEnded, replySent, handlerRaised, outputHalfWritten
}

/// The test's hook at each step.
package enum ServiceSteps {
    private static let isWatched = Atomic<Bool>(false)
    private static let hook = Lock<(@Sendable (ServiceStep) -> Void)?>(nil)

    /// Calls a body at each step from now on.
    package static func watch(_ body: @escaping @Sendable (ServiceStep) -> Void) {
        hook.withLock { $0 = body }
        isWatched.store(true, ordering: .releasing)
    }

    static func reach(_ step: ServiceStep) {
        guard isWatched.load(ordering: .acquiring) else { return }
        hook.withLock { $0 }?(step)
    }
}

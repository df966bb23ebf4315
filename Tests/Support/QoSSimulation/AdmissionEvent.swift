package import QoSCore

/// An event of the machine as a value, so that it can be logged, compared and given to the oracle as well.
package enum AdmissionEvent: Sendable, Hashable {
    case workBecameRunnable(QoSClass)
    case workerAsked(QoSClass, isExempt: Bool)
    case workerWentIdle(QoSClass)
    case workerBlocked(QoSClass)
    case workerUnblocked(QoSClass)
    case workerMoved(from: QoSClass, to: QoSClass)
    case widthChanged(QoSClass, Int)
    case coresChanged(Int)
    case fenceRaised(upTo: QoSClass, holder: QoSClass?)
    case fenceLifted(FenceID)
    case ticked
}

/// The answer of the machine, or of the oracle.
package struct AdmissionReply: Sendable, Hashable {
    /// The driver's actions.
    package var actions: AdmissionActions
    /// The verdict for a worker that asked.
    package var verdict: WorkerVerdict?
    /// The fence that was raised.
    package var fence: FenceID?
    /// Whether the fence that was lifted was up.
    package var wasUp: Bool?

    /// Makes an answer; parts that the event does not ask for are `nil`.
    package init(
        actions: AdmissionActions, verdict: WorkerVerdict? = nil, fence: FenceID? = nil, wasUp: Bool? = nil
    ) {
        self.actions = actions
        self.verdict = verdict
        self.fence = fence
        self.wasUp = wasUp
    }
}

extension AdmissionMachine {
    /// Applies an event given as a value.
    package mutating func apply(_ event: AdmissionEvent, at time: SchedulerInstant) -> AdmissionReply {
        switch event {
        case .workBecameRunnable(let qosClass):
            return AdmissionReply(actions: workBecameRunnable(qosClass, at: time))
        case .workerAsked(let qosClass, let isExempt):
            let (verdict, actions) = workerAsked(qosClass, at: time, isExempt: isExempt)
            return AdmissionReply(actions: actions, verdict: verdict)
        case .workerWentIdle(let qosClass): return AdmissionReply(actions: workerWentIdle(qosClass, at: time))
        case .workerBlocked(let qosClass): return AdmissionReply(actions: workerBlocked(qosClass, at: time))
        case .workerUnblocked(let qosClass): return AdmissionReply(actions: workerUnblocked(qosClass, at: time))
        case .workerMoved(let old, let new):
            return AdmissionReply(actions: workerMoved(from: old, to: new, at: time))
        case .widthChanged(let qosClass, let width):
            return AdmissionReply(actions: widthChanged(of: qosClass, to: width, at: time))
        case .coresChanged(let cores): return AdmissionReply(actions: coresChanged(to: cores, at: time))
        case .fenceRaised(let ceiling, let holder):
            let (fence, actions) = fenceRaised(upTo: ceiling, holder: holder, at: time)
            return AdmissionReply(actions: actions, fence: fence)
        case .fenceLifted(let fence):
            let (wasUp, actions) = fenceLifted(fence, at: time)
            return AdmissionReply(actions: actions, wasUp: wasUp)
        case .ticked: return AdmissionReply(actions: ticked(at: time))
        }
    }
}

/// An oracle: a second form of the rules of admission. It answers each event beside the machine.
package protocol AdmissionJudge {
    /// Applies an event and returns the right answer of the machine.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - time: Nanoseconds of virtual time.
    ///   - fence: The identity that the machine gave to the fence that the event raised.
    mutating func apply(_ event: AdmissionEvent, at time: Int64, fence: FenceID?) -> AdmissionReply
}

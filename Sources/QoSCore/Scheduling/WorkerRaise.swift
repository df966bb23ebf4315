/// The raise of a worker's running job, because work of a higher class waits for the job (rules I2, I4).
///
/// Each event may change the state, and returns the actions of its driver. The driver carries them out in their order,
/// before the next event (`Docs/Inside/Protocols/promotion.md`). The worker's class is an argument, because it never
/// changes.
package enum WorkerRaise: Sendable, Hashable {
    /// The job runs in its worker's own class.
    case none
    /// The thread has the policy, nice value and slice of a class, and admission counts the worker there.
    case effects(QoSClass, Lifetime)
    /// The kernel does not allow that. So the classes up to this one take no jobs, unless the fence is missing.
    case fence(QoSClass, FenceID?, Lifetime)

    /// The time for which a raise lasts.
    package enum Lifetime: Sendable, Hashable, CaseIterable {
        /// Until the end of the job, or until nothing waits for the job any more.
        case job
        /// Until the job gives back its lock (rule I2).
        case lock
    }

    /// The standing of the worker in admission.
    package enum Presence: Sendable, Hashable, CaseIterable {
        /// Admission counts the worker.
        case running
        /// The worker waits within its job until its class is admitted. Its job is not raised.
        case atCheckpoint
        /// The worker's thread waits in the kernel. Admission does not count the worker.
        case blocked
    }

    /// The class to which the job is raised; `nil` without a raise.
    package var qosClass: QoSClass? {
        switch self {
        case .none: nil
        case .effects(let qosClass, _), .fence(let qosClass, _, _): qosClass
        }
    }

    /// Whether the kernel does not allow the raise of the thread.
    package var isFence: Bool {
        if case .fence = self { true } else { false }
    }

    /// The class in which admission counts the worker because of the raise; `nil` for its own class.
    package var countedClass: QoSClass? {
        if case .effects(let qosClass, _) = self { qosClass } else { nil }
    }

    /// The time for which the raise lasts; `nil` without a raise.
    package var lifetime: Lifetime? {
        switch self {
        case .none: nil
        case .effects(_, let lifetime), .fence(_, _, let lifetime): lifetime
        }
    }

    // MARK: Events

    /// Notes that work of a class waits for the job, or for a lock that the job holds.
    ///
    /// A blocked worker is not raised for its job: when it runs again, the next look finds the raised task. No look
    /// finds a lock's holder, so it gets its effects now, or its fence when it runs again.
    ///
    /// A job that was raised by effects keeps them if the kernel refuses a further raise.
    ///
    /// - Parameter givingEffects: gives the thread the effects of a class, and returns whether the kernel allowed it.
    package mutating func raised(
        to wanted: QoSClass, for requested: Lifetime, own: QoSClass, _ presence: Presence,
        givingEffects: (QoSClass) -> Bool
    ) -> WorkerRaiseActions {
        let lifetime: Lifetime = requested == .lock && self.lifetime != .job ? .lock : .job
        var actions = WorkerRaiseActions()
        if let present = qosClass, present >= wanted {
            lasts(for: lifetime)
            return actions
        }
        if presence == .blocked, requested == .job { return actions }
        let isGranted = givingEffects(wanted)
        if !isGranted, countedClass != nil { return actions }
        actions.raisedTo = wanted
        actions.endsWait = presence == .atCheckpoint
        if case .fence(_, let fence, _) = self { actions.lifted = fence }
        if isGranted {
            actions.counted =
                presence == .blocked ? .blocked(as: wanted) : .moved(from: countedClass ?? own, to: wanted)
            self = .effects(wanted, lifetime)
        } else {
            // While the worker sleeps, a fence would only keep other work off the processors.
            if presence != .blocked { actions.raisesFence = wanted }
            self = .fence(wanted, nil, lifetime)
        }
        return actions
    }

    /// Notes that nothing above a class waits for the job any more. A raise for a lock lasts until the lock is given
    /// back. A blocked worker stays as it is, and the next look finds it.
    ///
    /// - Parameters:
    ///   - needed: the class that the job still needs, at least the worker's own.
    ///   - givingEffects: gives the thread the effects of a class, and returns whether the kernel allowed it. If not,
    ///     the raise lasts until the end of the job.
    package mutating func lowered(
        to needed: QoSClass, own: QoSClass, _ presence: Presence, givingEffects: (QoSClass) -> Bool
    ) -> WorkerRaiseActions {
        var actions = WorkerRaiseActions()
        guard lifetime == .job, presence != .blocked else { return actions }
        switch self {
        case .effects(let present, _) where present > needed:
            guard givingEffects(needed) else { return actions }
            actions.counted = .moved(from: present, to: needed)
            self = needed > own ? .effects(needed, .job) : .none
        case .fence(let present, let fence, _) where present > needed:
            actions.lifted = fence
            if needed > own { actions.raisesFence = needed }
            self = needed > own ? .fence(needed, nil, .job) : .none
        default: break
        }
        return actions
    }

    /// Notes that the job gave back the lock. A blocked worker keeps the raise, and the end of its job undoes it.
    package mutating func unlocked(own: QoSClass, _ presence: Presence) -> WorkerRaiseActions {
        guard lifetime == .lock, presence != .blocked else { return WorkerRaiseActions() }
        return ended(own: own, presence)
    }

    /// Notes that the job has ended.
    package mutating func ended(own: QoSClass, _ presence: Presence) -> WorkerRaiseActions {
        var actions = WorkerRaiseActions()
        switch self {
        case .none: break
        case .effects(let present, _):
            actions.counted = presence == .blocked ? .blocked(as: own) : .moved(from: present, to: own)
            actions.returnsToClass = true
        case .fence(_, let fence, _): actions.lifted = fence
        }
        self = .none
        return actions
    }

    /// Notes that the worker runs in its job. A missing fence goes up: the worker was blocked, or none could be put up.
    package func runs() -> WorkerRaiseActions {
        guard case .fence(let present, nil, _) = self else { return WorkerRaiseActions() }
        return WorkerRaiseActions(raisesFence: present)
    }

    /// Notes the answer to ``WorkerRaiseActions/raisesFence``: the fence, or `nil` if none could be put up.
    package mutating func fenceRaised(_ fence: FenceID?) {
        guard case .fence(let present, nil, let lifetime) = self else { return }
        self = .fence(present, fence, lifetime)
    }

    private mutating func lasts(for lifetime: Lifetime) {
        switch self {
        case .none: break
        case .effects(let present, _): self = .effects(present, lifetime)
        case .fence(let present, let fence, _): self = .fence(present, fence, lifetime)
        }
    }
}

/// All facts that decide the level of a work item, as a value (rules B5 to B10).
package struct WorkSubmission: Sendable, Hashable {
    /// The target of a queue, as far as it matters for levels.
    package enum Target: Sendable, Hashable {
        /// Another queue of the user, or none.
        case other
        /// The global queue of a class.
        case global(QoSClass)
    }

    /// The queue's own level (rule B1).
    package var queueLevel: QoSLevel?

    /// The queue's immediate target (rule B3).
    package var target: Target

    /// The item's assigned level. A level captured at its creation counts as assigned (rule B9).
    package var itemLevel: QoSLevel?

    /// The flags of item and submission together.
    package var flags: WorkItemFlags

    /// The level of the submitting task or thread (rule B6). For a synchronous submission, that of the calling thread
    /// (rule B7).
    package var submitter: QoSLevel?

    /// Makes a description of a submission.
    package init(
        queueLevel: QoSLevel? = nil, target: Target = .other, itemLevel: QoSLevel? = nil, flags: WorkItemFlags = [],
        submitter: QoSLevel? = nil
    ) {
        self.queueLevel = queueLevel
        self.target = target
        self.itemLevel = itemLevel
        self.flags = flags
        self.submitter = submitter
    }

    /// Returns the level that submitted work infers from its submitter. It turns the class userInteractive into
    /// userInitiated, and keeps the relative priority (rule B6).
    package static func inferred(from submitter: QoSLevel?) -> QoSLevel? {
        guard let submitter, submitter.qosClass == .userInteractive else { return submitter }
        return QoSLevel(.userInitiated, relativePriority: submitter.relativePriority)
    }

    /// Returns the level that an item captures at its creation (rule B9). `nil` without
    /// ``WorkItemFlags/assignCurrent``, and for a detached item. **Choice**: an assigned level wins over a captured
    /// one.
    package static func captured(
        assigned: QoSLevel?, flags: WorkItemFlags, creator: @autoclosure () -> QoSLevel?
    ) -> QoSLevel? {
        guard assigned == nil, flags.contains(.assignCurrent), !flags.contains(.detached) else { return assigned }
        return inferred(from: creator())
    }

    /// The level of an asynchronous submission (rules B5, B6, B8, B9).
    ///
    /// Without any information it is `default` (rule C2).
    package var asynchronousLevel: QoSLevel {
        let own = flags.contains(.noQoS) ? nil : itemLevel
        guard let context = contextLevel else {
            if let own { return own }
            guard flags.isDisjoint(with: [.noQoS, .detached, .assignCurrent]) else { return .default }
            return Self.inferred(from: submitter) ?? .default
        }
        return flags.contains(.enforceQoS) ? context.raised(to: own) : context
    }

    /// Whether the level of an asynchronous submission depends on the submitter.
    package var needsSubmitter: Bool {
        contextLevel == nil && itemLevel == nil && flags.isDisjoint(with: [.noQoS, .detached, .assignCurrent])
    }

    /// The level of a synchronous submission (rules B7, B8): never below the calling thread's; `nil` if neither has
    /// one.
    package var synchronousLevel: QoSLevel? {
        let own = flags.contains(.noQoS) ? nil : itemLevel
        let prefersThread = flags.contains(.inheritQoS) && !flags.contains(.enforceQoS)
        guard let submitter else { return own }
        return prefersThread ? submitter : submitter.raised(to: own)
    }

    /// The level of the runtime's own submissions: handlers of timers and sources, and delayed items (rule B10).
    package var detachedLevel: QoSLevel {
        var detached = self
        detached.flags.insert(.detached)
        return detached.asynchronousLevel
    }

    /// The level of the queue (rule B5, steps 1 and 2).
    private var contextLevel: QoSLevel? {
        if let queueLevel { return queueLevel }
        guard case .global(let qosClass) = target, qosClass != .default else { return nil }
        return QoSLevel(qosClass)
    }

    /// Returns the level that callers read of a queue (rule B1): its own, else that of its global target.
    package static func readableLevel(of own: QoSLevel?, target: Target) -> QoSLevel? {
        if let own { return own }
        guard case .global(let qosClass) = target else { return nil }
        return QoSLevel(qosClass)
    }
}

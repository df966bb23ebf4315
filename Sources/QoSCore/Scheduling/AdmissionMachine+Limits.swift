// Events of limits: the governor's widths, the cores, the budget, fences.

extension AdmissionMachine {
    /// Sets the governor's limit for the workers of a class.
    ///
    /// - Parameters:
    ///   - qosClass: The class.
    ///   - limit: 0 pauses the class, `Int.max` lifts the limit; a negative number counts as 0.
    ///   - time: The time.
    package mutating func widthChanged(
        of qosClass: QoSClass, to limit: Int, at time: SchedulerInstant
    ) -> AdmissionActions {
        passTime(to: time)
        table.records[qosClass.rank].widthLimit = max(0, limit)
        return settle()
    }

    /// Sets a class's own width, in place of the one that follows from the cores.
    ///
    /// - Parameters:
    ///   - qosClass: The class.
    ///   - width: At least 1; `nil`, or less, goes back to the one that follows from the cores.
    ///   - time: The time.
    package mutating func ownWidthChanged(
        of qosClass: QoSClass, to width: Int?, at time: SchedulerInstant
    ) -> AdmissionActions {
        passTime(to: time)
        table.setOwnWidth(rank: qosClass.rank, to: width)
        return settle()
    }

    /// Sets the number of cores, after a change of the process's affinity or quota.
    ///
    /// - Parameters:
    ///   - cores: At least 1; a smaller number counts as 1.
    ///   - time: The time.
    package mutating func coresChanged(to cores: Int, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        table.cores = max(1, cores)
        applyFences()
        return settle()
    }

    /// Sets the classes that the budget of processor time holds back (rule A7, ``ProcessorBudget``).
    package mutating func heldBackChanged(to held: QoSClassSet, at time: SchedulerInstant) -> AdmissionActions {
        passTime(to: time)
        for rank in 0..<5 { table.records[rank].isHeld = held.contains(QoSClassSet(rank: rank)) }
        return settle()
    }

    /// Raises a fence for awaited work that runs in a lower class and cannot be raised.
    ///
    /// - Parameters:
    ///   - ceiling: The class of the waiter: workers of this class and the lower ones park at their next boundary. For
    ///     a blocked worker whose obstacle is unknown: the class below its own.
    ///   - holder: The class of the worker that runs the awaited work; `nil` if it is not known.
    ///   - time: The time.
    /// - Returns: The fence, to be lifted exactly once. `nil` if too many fences are up; then nothing is to be lifted.
    package mutating func fenceRaised(
        upTo ceiling: QoSClass, holder: QoSClass?, at time: SchedulerInstant
    ) -> (fence: FenceID?, actions: AdmissionActions) {
        passTime(to: time)
        let fence = fences.raise(ceiling: ceiling, holder: holder, halfAt: now.advanced(byNanoseconds: fullFence))
        if fence == nil {
            counters.fencesRefused &+= 1
        } else {
            counters.fencesRaised &+= 1
        }
        applyFences()
        return (fence, settle())
    }

    /// Lifts a fence, when the awaited work ended or the wait for it is over.
    ///
    /// - Returns: `wasUp` is `false` if the fence was lifted before; then nothing changed.
    package mutating func fenceLifted(
        _ fence: FenceID, at time: SchedulerInstant
    ) -> (wasUp: Bool, actions: AdmissionActions) {
        passTime(to: time)
        let wasUp = fences.lift(fence)
        if wasUp { counters.fencesLifted &+= 1 }
        applyFences()
        return (wasUp, settle())
    }

    mutating func applyFences() {
        for rank in 0..<5 {
            guard let qosClass = QoSClass(rank: rank) else { continue }
            table.records[rank].fenceLimit = fences.limit(of: qosClass, cores: table.cores)
        }
    }
}

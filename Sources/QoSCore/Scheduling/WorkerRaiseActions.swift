/// The actions of the driver after an event of ``WorkerRaise``, in the order in which it carries them out.
package struct WorkerRaiseActions: Sendable, Equatable {
    /// The worker's wait at a checkpoint ends, and admission counts the worker again.
    package var endsWait: Bool

    /// A fence is lifted.
    package var lifted: FenceID?

    /// Admission counts the worker in another class.
    package var counted: Counted?

    /// A fence is put up for the classes up to this one. ``WorkerRaise/fenceRaised(_:)`` gets the answer.
    package var raisesFence: QoSClass?

    /// The class to which the job was raised; `nil` if it was not.
    package var raisedTo: QoSClass?

    /// The thread gets back the effects of its own class. The worker's thread, under no lock.
    package var returnsToClass: Bool

    /// Makes the actions of an event; none by default.
    package init(
        endsWait: Bool = false, lifted: FenceID? = nil, counted: Counted? = nil, raisesFence: QoSClass? = nil,
        raisedTo: QoSClass? = nil, returnsToClass: Bool = false
    ) {
        self.endsWait = endsWait
        self.lifted = lifted
        self.counted = counted
        self.raisesFence = raisesFence
        self.raisedTo = raisedTo
        self.returnsToClass = returnsToClass
    }

    /// Whether there is nothing to do.
    package var isEmpty: Bool { self == WorkerRaiseActions() }

    /// A change of the class that counts a worker.
    package enum Counted: Sendable, Equatable {
        /// From now on another class counts the worker.
        case moved(from: QoSClass, to: QoSClass)
        /// Another class counts the worker once it runs again.
        case blocked(as: QoSClass)
    }
}

package import QoSCore

/// An event from outside the simulated world, at a time.
package struct ScriptEvent: Sendable, Hashable {
    /// Nanoseconds of virtual time.
    package var at: Int64
    package var kind: Kind

    /// Makes an event at a time in nanoseconds.
    package init(at time: Int64, kind: Kind) {
        at = time
        self.kind = kind
    }

    package enum Kind: Sendable, Hashable {
        /// A job of so many nanoseconds of CPU time is enqueued.
        case arrive(QoSClass, length: Int64)
        /// So many tasks of a class each run for so many nanoseconds of CPU time, again and again, until a time.
        case loop(QoSClass, tasks: Int, length: Int64, until: Int64)
        /// A worker of the class that is in a job waits in the kernel for so many nanoseconds, if there is one.
        case block(QoSClass, nanoseconds: Int64)
        /// The governor sets the width of a class.
        case width(QoSClass, Int)
        /// The affinity changes.
        case cores(Int)
        /// Work of the ceiling's class waits for a worker of the holder's class, until that worker's job ends.
        case fence(upTo: QoSClass, holder: QoSClass)
        /// A worker in a job is re-niced until its job ends.
        case raise(QoSClass, to: QoSClass)
    }
}

extension ScriptEvent: CustomStringConvertible {
    /// Swift source, to be pasted into a test.
    package var description: String {
        switch kind {
        case .arrive(let qosClass, let length):
            "ScriptEvent(at: \(at), kind: .arrive(.\(qosClass), length: \(length)))"
        case .loop(let qosClass, let tasks, let length, let until):
            "ScriptEvent(at: \(at), kind: .loop(.\(qosClass), tasks: \(tasks), length: \(length), until: \(until)))"
        case .block(let qosClass, let nanoseconds):
            "ScriptEvent(at: \(at), kind: .block(.\(qosClass), nanoseconds: \(nanoseconds)))"
        case .width(let qosClass, let width):
            "ScriptEvent(at: \(at), kind: .width(.\(qosClass), \(width)))"
        case .cores(let cores):
            "ScriptEvent(at: \(at), kind: .cores(\(cores)))"
        case .fence(let ceiling, let holder):
            "ScriptEvent(at: \(at), kind: .fence(upTo: .\(ceiling), holder: .\(holder)))"
        case .raise(let old, let new):
            "ScriptEvent(at: \(at), kind: .raise(.\(old), to: .\(new)))"
        }
    }
}

internal import CQoSGuests

/// The threads and child processes that code of others makes on threads of ours, and how they are kept from inheriting.
///
/// A thread or a process inherits affinity, policy, nice value, timer slack, I/O priority and signal mask from the
/// thread that makes it. Without a privilege it can never be raised again. So a thread of ours makes none itself: the
/// creator does, a thread that was never bound or lowered (`Docs/Inside/Protocols/library-threads.md`). The C target
/// `CQoSGuests` defines `pthread_create`, `posix_spawn` and their relatives in front of the C library's.
///
/// Threading: any thread.
package enum LibraryThreads {
    /// How the calling thread makes threads and processes.
    package enum Rule: Sendable {
        /// A thread of ours that may be lowered or raised: through the creator.
        case own
        /// A thread of ours that is neither bound nor lowered: our own threads directly, to save the hand-over. All
        /// others through the creator, since the thread may be raised.
        case ownClean
        /// A worker, which is bound at times, too. A library that asks it for its processors is told those of the
        /// process.
        case worker

        fileprivate var number: cqos_guest_rule {
            switch self {
            case .own: CQOS_GUEST_RULE_OWN
            case .ownClean: CQOS_GUEST_RULE_OWN_CLEAN
            case .worker: CQOS_GUEST_RULE_WORKER
            }
        }
    }

    /// Sets the rule of the calling thread, for the rest of its life. Threads of ``Thread`` begin as ``Rule/own``.
    package static func setRule(_ rule: Rule) {
        cqos_guests_set_rule(rule.number)
    }

    /// Notes that a thread of others is about to be raised, or is raised no longer. What it makes meanwhile would
    /// inherit that. Each note of a raise is followed by one of its end.
    package static func noteRaised(_ isRaised: Bool, _ thread: ThreadID) {
        cqos_guests_note_raised(thread.rawValue, isRaised ? 1 : 0)
    }

    /// The reason why threads and children of libraries inherit from ours.
    package enum Obstacle: Sendable, Hashable {
        /// The environment says `QOS_LIBRARY_THREADS=inherit`.
        case switchedOff
        /// The program was built for a sanitizer, which defines these functions itself.
        case sanitizer
        /// Another part of the program defines `pthread_create`, too, and comes first.
        case shadowed
        /// The C library's own functions cannot be found.
        case noLibrary
        /// The system has refused the creator, with this error number.
        case noCreator(code: Int32)
    }

    /// What has happened so far in this process.
    package struct Report: Sendable, Hashable {
        /// Nil if nothing inherits from our threads.
        package let obstacle: Obstacle?
        /// The creator; `nil` before the first thread of ours.
        package let creator: ThreadID?
        /// The number of threads that the creator made, ours included.
        package let threads: UInt64
        /// The number of processes that were made for threads of ours.
        package let processes: UInt64
        /// The number of threads and processes that inherited from a thread of ours after all.
        package let inherited: UInt64
    }

    /// Looks whether the definitions are effective, and reads the counters; about a microsecond.
    package static var report: Report {
        let report = cqos_guests_report()
        let obstacle: Obstacle? =
            switch report.obstacle {
            case CQOS_GUESTS_SWITCHED_OFF: .switchedOff
            case CQOS_GUESTS_SANITIZER: .sanitizer
            case CQOS_GUESTS_SHADOWED: .shadowed
            case CQOS_GUESTS_NO_REAL: .noLibrary
            case CQOS_GUESTS_NO_CREATOR: .noCreator(code: report.refusal)
            default: nil
            }
        return Report(
            obstacle: obstacle, creator: report.creator > 0 ? ThreadID(rawValue: report.creator) : nil,
            threads: report.threads, processes: report.processes, inherited: report.inherited)
    }
}

extension LibraryThreads.Obstacle: CustomStringConvertible {
    /// What is in the way, and what to do about it.
    package var description: String {
        switch self {
        case .switchedOff: "QOS_LIBRARY_THREADS=inherit switches it off"
        case .sanitizer: "the program is built for a sanitizer, which has these functions itself"
        case .shadowed:
            "another part of the program defines pthread_create and comes first: link this library into the program itself, "
                + "or load it before the other part"
        case .noLibrary: "the C library's pthread_create cannot be found: link the C library dynamically"
        case .noCreator(let code):
            "\(KernelError(.createThread, code: code, subject: "the creator"))"
        }
    }
}

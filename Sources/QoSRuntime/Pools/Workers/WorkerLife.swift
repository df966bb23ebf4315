import Synchronization

/// The life of a worker's thread. The table of events is in `Docs/Inside/Protocols/wake-park.md`.
enum WorkerLife: UInt8, AtomicRepresentable {
    /// The worker has no thread. Its queue takes no nodes from other threads: no thread would look there.
    case vacant
    /// The worker has a thread that goes on, or one that is about to start.
    case open
    /// The parked worker's thread is told to end. Its queue is closed and empty.
    case retiring
    /// The thread has ended, or is about to return. The loop's thread joins it.
    case left

    /// A change of a worker's life.
    enum Event: CaseIterable {
        /// A thread is about to start. The loop's thread.
        case starts
        /// The thread could not be started. The loop's thread, under the queue's lock.
        case startFails
        /// The pool has too many workers. The loop's thread, under the queue's lock, with the queue empty.
        case retires
        /// The pool needs the worker after all, which has not been woken yet. The loop's thread.
        case staysOn
        /// The thread is about to return. The worker's thread.
        case ends
    }

    /// Returns the life after an event; `nil` for an event that does not apply.
    func after(_ event: Event) -> WorkerLife? {
        switch (event, self) {
        case (.starts, .vacant), (.starts, .left): .open
        case (.startFails, .open): .vacant
        case (.retires, .open): .retiring
        case (.staysOn, .retiring): .open
        case (.ends, .open), (.ends, .retiring): .left
        default: nil
        }
    }
}

/// The end of a child process.
package enum ChildExit: Sendable, Hashable {
    /// It returned, or called `exit`, with a status of 0…255.
    case exited(status: Int32)
    /// A signal ended it.
    case signalled(Int32)

    init(status: Int64, signal: Int32) {
        self = signal == 0 ? .exited(status: Int32(truncatingIfNeeded: status)) : .signalled(signal)
    }
}

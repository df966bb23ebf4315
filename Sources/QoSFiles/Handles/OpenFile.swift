internal import Glibc
import QoSKernel

/// A descriptor, and the calls that use it at this moment. The last one of them closes it.
///
/// Threading: any thread.
final class OpenFile: Sendable {
    private enum State: Sendable {
        case open(Int32, uses: Int)
        /// To be closed by the last user.
        case closing(Int32, uses: Int)
        case closed
    }

    let path: String
    let calls: any FileCalls
    private let state: Lock<State>

    /// - Parameter descriptor: an open descriptor, owned from now on.
    init(_ descriptor: Int32, path: String, calls: any FileCalls) {
        self.path = path
        self.calls = calls
        state = Lock(.open(descriptor, uses: 0))
    }

    deinit {
        // Nothing uses it any more: each use holds a reference.
        if case .open(let descriptor, _) = state.withLock({ $0 }) { _ = calls.close(descriptor) }
    }

    /// Runs a body with the descriptor, which stays open meanwhile.
    ///
    /// - Throws: ``FileError/Code/closed``, and the errors of the body.
    func use<Success>(for call: String, _ body: (Int32) throws -> Success) throws -> Success {
        let descriptor = state.withLock { state -> Int32? in
            guard case .open(let descriptor, let uses) = state else { return nil }
            state = .open(descriptor, uses: uses + 1)
            return descriptor
        }
        guard let descriptor else {
            throw FileError(call, 0, path: path, code: .closed, detail: "the file is closed")
        }
        defer { endUse() }
        return try body(descriptor)
    }

    private func endUse() {
        let toClose = state.withLock { state -> Int32? in
            switch state {
            case .open(let descriptor, let uses): state = .open(descriptor, uses: uses - 1)
            case .closing(let descriptor, 1):
                state = .closed
                return descriptor
            case .closing(let descriptor, let uses): state = .closing(descriptor, uses: uses - 1)
            case .closed: break
            }
            return nil
        }
        if let toClose { _ = calls.close(toClose) }
    }

    /// Closes the descriptor, now or when its last use ends. A second call does nothing.
    ///
    /// - Throws: the error of close(2). Data that was written before may be lost then (EIO, ENOSPC, EDQUOT).
    func close() throws(FileError) {
        let toClose = state.withLock { state -> Int32? in
            guard case .open(let descriptor, let uses) = state else { return nil }
            state = uses == 0 ? .closed : .closing(descriptor, uses: uses)
            return uses == 0 ? descriptor : nil
        }
        guard let toClose else { return }
        let result = calls.close(toClose)
        // Linux has closed the descriptor even if a signal interrupted the call (close(2)).
        if result < 0, result != -EINTR { throw FileError("close", result, path: path) }
    }
}

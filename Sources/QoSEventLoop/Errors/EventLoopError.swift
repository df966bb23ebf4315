/// Why the event loop could not do what it was asked for, and what to do about it.
package struct EventLoopError: Error, Sendable, Hashable {
    /// The kind of failure, for programs.
    package enum Code: Sendable, Hashable {
        /// `run()` was called for the second time.
        case alreadyRun
        /// The loop was stopped and takes no more work.
        case stopped
        /// The call is reserved for the loop's thread.
        case notOnLoopThread
        /// A limit of the process or the system is reached.
        case limitReached
        /// The file, directory, program or process does not exist.
        case notFound
        /// The process may not do this.
        case notPermitted
        /// The descriptor is watched by this loop already.
        case alreadyWatched
        /// An argument is not acceptable.
        case invalidArgument
        /// Something else failed; the name tells.
        case other
    }

    /// The kind of failure.
    package let code: Code

    /// The call that failed: a function of libuv or the kernel, or of the event loop.
    package let call: String

    /// The error's name in libuv, such as `ENOSPC`; `nil` if no system call was involved.
    package let name: String?

    /// The failure, in one clause.
    package let message: String

    /// The remedy, in one clause.
    package let remedy: String
}

extension EventLoopError: CustomStringConvertible {
    /// All of it in one line.
    package var description: String {
        "\(call) failed\(name.map { " (\($0))" } ?? ""): \(message); \(remedy)"
    }
}

extension EventLoopError {
    static let alreadyRun = EventLoopError(
        code: .alreadyRun, call: "run", name: nil,
        message: "the event loop runs or ran already", remedy: "make a new loop for every run"
    )

    static func stopped(_ call: String) -> EventLoopError {
        EventLoopError(
            code: .stopped, call: call, name: nil,
            message: "the event loop was stopped", remedy: "make the call before the stop, or stop the loop last"
        )
    }

    static func notOnLoopThread(_ call: String) -> EventLoopError {
        EventLoopError(
            code: .notOnLoopThread, call: call, name: nil,
            message: "the call was made on another thread than the loop's",
            remedy: "make it inside of `submit` or `perform`"
        )
    }

    static func containsNUL(_ call: String) -> EventLoopError {
        EventLoopError(
            code: .invalidArgument, call: call, name: nil,
            message: "a path, an argument or a variable contains a NUL character",
            remedy: "remove the character; the kernel would end the text there"
        )
    }
}

/// Checks texts that go to the kernel as C strings.
///
/// - Throws: ``EventLoopError`` when one contains a NUL character.
func checkHasNoNUL(_ texts: [String], _ call: String) throws(EventLoopError) {
    for text in texts where text.utf8.contains(0) {
        throw .containsNUL(call)
    }
}

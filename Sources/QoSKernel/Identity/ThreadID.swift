internal import CQoSShims

/// The kernel's id of a thread, as `/proc/self/task` lists it.
///
/// An id is valid while its thread lives; afterwards calls that take it fail with ESRCH, and the kernel may give the
/// number to a new thread.
package struct ThreadID: RawRepresentable, Sendable, Hashable {
    /// The number (a `pid_t`).
    package let rawValue: Int32

    /// Wraps a number that the kernel gave out.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The id of the calling thread; one system call (gettid(2)), some 100 ns.
    package static var current: ThreadID {
        ThreadID(rawValue: cqos_gettid())
    }
}

extension ThreadID: CustomStringConvertible {
    /// `thread 4711`.
    package var description: String { "thread \(rawValue)" }
}

/// A thread's name in the form the kernel keeps: at most 15 bytes, no NUL (prctl(2), PR_SET_NAME).
package struct ThreadName: Sendable, Hashable {
    /// The most bytes a name has.
    package static let maximumLength = 15

    /// The part of the requested name that fits.
    package let text: String

    /// Cuts a name at its first NUL and after at most 15 bytes, never inside of a character.
    package init(_ name: String) {
        var kept = ""
        for character in name.unicodeScalars {
            guard character != "\0" else { break }
            guard kept.utf8.count + UTF8.width(character) <= Self.maximumLength else { break }
            kept.unicodeScalars.append(character)
        }
        text = kept
    }
}

internal import CLibUV
internal import Glibc

/// Reports the changes of a file, or of a directory and its files, while it exists.
///
/// Not recursive: the directories in a directory have watches of their own. Events are hints: look
/// at the file after each. The kernel merges equal ones. It drops some when they come too fast, and libuv does not say
/// so. To miss nothing, scan from time to time as well (`inotify(7)`, "Limitations and caveats").
package final class FileWatch: Sendable {
    /// The handler's argument.
    package typealias Outcome = Result<FileEvent, EventLoopError>

    /// The path as it was given.
    package let path: String

    private let lease: HandleLease

    fileprivate init(path: String, lease: consuming HandleLease) {
        self.path = path
        self.lease = lease
    }

    /// Ends the watch; dropping the last reference does it too. Any thread.
    ///
    /// On the loop's thread: no call of the handler comes after this returned. On another: none begins after this
    /// returned, one that began may still run.
    package func close() {
        lease.close()
    }

    /// Translates what libuv reports.
    static func outcome(name: UnsafePointer<CChar>?, events: Int32, status: Int32) -> Outcome {
        guard status >= 0 else { return .failure(EventLoopError(.fileEventStart, status: status)) }
        let bytes = unsafe name.map { name in
            unsafe [UInt8](UnsafeRawBufferPointer(start: name, count: strlen(name)))
        }
        return .success(FileEvent(kinds: FileEvent.Kinds(rawValue: events), nameBytes: bytes))
    }
}

extension EventLoop {
    /// Watches a file or a directory that exists. The loop's thread.
    ///
    /// - Parameters:
    ///   - path: Its path; a symbolic link is followed.
    ///   - handler: Called on the loop's thread for each event.
    /// - Returns: The watch; it ends when this is dropped, and when the loop ends.
    /// - Throws: ``EventLoopError``: `notFound`, `notPermitted`, or `limitReached` when the user's number of watches is
    ///   exhausted; `notOnLoopThread`.
    package func watchFile(
        _ path: String, handler: @escaping @Sendable (FileWatch.Outcome) -> Void
    ) throws(EventLoopError) -> FileWatch {
        try checkHandlesMayBeUsed("watchFile")
        try checkHasNoNUL([path], "watchFile")
        let handle = unsafe LoopHandle<FileWatch.Outcome>(for: uv_fs_event_t.self, handler: handler)
        try handle.open { () throws(EventLoopError) in
            try core.attempt(.fileEventInit) { unsafe uv_fs_event_init(core.loop, handle.raw()) }
            try core.attempt(.fileEventStart) {
                unsafe uv_fs_event_start(
                    handle.raw(),
                    { raw, name, events, status in
                        let outcome = unsafe FileWatch.outcome(name: name, events: events, status: status)
                        unsafe LoopHandle<FileWatch.Outcome>.of(raw)?.report(outcome)
                    }, path, 0)
            }
        }
        return FileWatch(path: path, lease: HandleLease(handle, of: self))
    }
}

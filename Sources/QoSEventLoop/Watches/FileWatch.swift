internal import CLibUV
internal import Glibc

/// Reports the changes of a file, or of a directory and its files, while it exists.
///
/// A file that gets the path of the watched one is watched from then on: that is one event, which is a change, too.
/// When the path names nothing any more, an event and a failure end the watch. A directory is watched under any name.
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
    ///   - handler: Called on the loop's thread for each event, and for a failure, after which there are no more.
    /// - Returns: The watch; it ends when this is dropped, and when the loop ends.
    /// - Throws: ``EventLoopError``: `notFound`, `notPermitted`, or `limitReached` when the user's number of watches is
    ///   exhausted; `notOnLoopThread`.
    package func watchFile(
        _ path: String, handler: @escaping @Sendable (FileWatch.Outcome) -> Void
    ) throws(EventLoopError) -> FileWatch {
        try checkHandlesMayBeUsed("watchFile")
        try checkHasNoNUL([path], "watchFile")
        let handle = unsafe FileWatchHandle(for: uv_fs_event_t.self, path: path, core: core, handler: handler)
        try handle.open { () throws(EventLoopError) in
            try core.attempt(.fileEventInit) { unsafe uv_fs_event_init(core.loop, handle.raw()) }
            try handle.start()
        }
        return FileWatch(path: path, lease: HandleLease(handle, of: self))
    }
}

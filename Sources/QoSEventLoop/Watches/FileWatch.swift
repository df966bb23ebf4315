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

/// The handle of a file watch, which stays with the path of a file.
///
/// The kernel watches the file that had the path at the start, and libuv stays with it when another file gets the path.
/// So after an event of a file, not of a directory, this handle looks at the path, and watches what it names now.
// SAFETY: as the superclass; what this class adds is touched on the loop's thread only.
final class FileWatchHandle: LoopHandle<FileWatch.Outcome>, @unchecked Sendable {
    private let path: String
    private let core: LoopCore

    /// The file at the start; `nil` if there was none. The loop's thread.
    private var file: FileIdentity?

    /// Allocates a handle that libuv does not know yet.
    init<Raw>(
        for type: Raw.Type, path: String, core: LoopCore, handler: @escaping @Sendable (FileWatch.Outcome) -> Void
    ) {
        self.path = path
        self.core = core
        super.init(for: type, handler: handler)
    }

    /// Begins to watch what the path names now. The loop's thread.
    func start() throws(EventLoopError) {
        // Before the start: a file that comes in between differs at the next event, and is watched once more.
        file = FileIdentity(path)
        try core.attempt(.fileEventStart) {
            unsafe uv_fs_event_start(
                raw(),
                { raw, name, events, status in
                    let outcome = unsafe FileWatch.outcome(name: name, events: events, status: status)
                    guard let handle = unsafe AnyLoopHandle.behind(raw) as? FileWatchHandle else { return }
                    handle.happened(outcome)
                }, path, 0)
        }
    }

    private func happened(_ outcome: FileWatch.Outcome) {
        guard file?.isDirectory != true, case .success(let event) = outcome else { return report(outcome) }
        // The end of a file may leave its number to the next one. While the old file is open elsewhere, it does not
        // end, and only its attributes change.
        guard event.kinds.contains(.rename) || FileIdentity(path) != file else { return report(outcome) }
        unsafe uv_fs_event_stop(raw())
        do throws(EventLoopError) {
            try start()
            report(.success(FileEvent(kinds: [.rename, .change], nameBytes: event.nameBytes)))
        } catch {
            report(.success(FileEvent(kinds: .rename, nameBytes: event.nameBytes)))
            report(.failure(error))
        }
    }
}

/// What tells two files with the same path apart.
struct FileIdentity: Hashable {
    let isDirectory: Bool
    private let device: UInt64
    private let number: UInt64

    /// The file or directory that a path names now; `nil` if there is none. A symbolic link is followed.
    init?(_ path: String) {
        var status = stat()
        guard unsafe fstatat(AT_FDCWD, path, &status, 0) == 0 else { return nil }
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}

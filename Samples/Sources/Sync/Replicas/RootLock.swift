internal import Glibc
internal import SafeFiles

/// Lets one run at a time work in a folder, whoever runs it: by an exclusive flock(2) on the folder itself.
///
/// Two users may have the same pair, with an archive of their own each, and one folder may be in several pairs. Runs at
/// the same time would take each other's half of the work for changes of people. The kernel drops the lock at any end of
/// the process. Where the file system has no such lock, as with some of the network, the run goes on without it.
final class RootLock: Sendable {
    private static let pause = Duration.milliseconds(100)
    /// The pauses before a person is told.
    private static let silence = 10

    private let folders: [OpenDescriptor]

    private init(_ folders: [OpenDescriptor]) {
        self.folders = folders
    }

    /// Takes the locks of some folders. Waits for other runs.
    ///
    /// - Parameter waiting: Called once with the folder of another run, if the wait takes longer than a second.
    /// - Throws: `CancellationError`.
    static func take(_ paths: [String], waiting: (String) -> Void) async throws -> RootLock {
        var pauses = 0
        while true {
            var folders: [OpenDescriptor] = []
            var taken: String?
            for path in paths where taken == nil {
                let folder = unsafe open(PathText.bytes(path).terminated, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                // The run itself says what is wrong with it.
                guard folder >= 0 else { continue }
                let descriptor = OpenDescriptor(owning: folder)
                if flock(folder, LOCK_EX | LOCK_NB) == 0 {
                    folders.append(descriptor)
                } else if errno == EWOULDBLOCK {
                    taken = path
                }
            }
            guard let taken else { return RootLock(folders) }
            // All or none: two runs must not wait for one another.
            RootLock(folders).release()
            folders = []
            pauses += 1
            if pauses == silence { waiting(taken) }
            try await Task.sleep(for: pause)
        }
    }

    /// Gives the locks back.
    func release() {
        // A child process that has not run its program yet has the open folders, too. So closing does not unlock them.
        for folder in folders { flock(folder.number, LOCK_UN) }
    }
}

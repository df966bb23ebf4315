internal import Glibc

/// A call of the system that changes a repository or a restored folder.
///
/// Tests end the process right before one, or let it fail.
public struct StorageCall: Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public enum Place: String, Sendable, CaseIterable {
        /// A folder of the repository.
        case folder
        /// The wrapped key.
        case header
        /// The room that a prune on a full disk uses.
        case reserve
        /// A pack.
        case packs
        /// A file of the index.
        case index
        /// A snapshot.
        case snapshots
        /// The mark of a pack that is about to be removed.
        case doomed
        /// The lease of a run.
        case leases
        /// What a killed run left.
        case temporary
        /// An entry of a restored folder.
        case target
    }

    /// The call.
    public enum Operation: String, Sendable, CaseIterable {
        /// mkdir(2)
        case make
        /// open(2), symlink(2), mkfifo(3)
        case create
        /// pwrite(2), ftruncate(2)
        case write
        /// fsync(2), syncfs(2)
        case synchronize
        /// rename(2)
        case rename
        /// link(2)
        case link
        /// fsync(2) of the folder
        case synchronizeNames = "synchronize-names"
        /// unlink(2)
        case remove
    }

    /// The file.
    public let place: Place
    /// The call.
    public let operation: Operation

    /// Place and call with a dot between, for example `packs.rename`.
    public var description: String { "\(place.rawValue).\(operation.rawValue)" }
}

/// Called right before each ``StorageCall``. With another result than 0 the call is not made: it fails with that error
/// number, errno(3). Any thread may call it.
public typealias StorageHook = @Sendable (StorageCall) -> Int32

/// The calls on one kind of file.
struct StorageCalls: Sendable {
    let place: StorageCall.Place
    let hook: StorageHook

    /// Whether a call may be made. If not, `errno` says why.
    func allow(_ operation: StorageCall.Operation) -> Bool {
        let code = hook(StorageCall(place: place, operation: operation))
        if code != 0 { errno = code }
        return code == 0
    }
}

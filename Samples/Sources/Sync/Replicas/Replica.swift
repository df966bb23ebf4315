internal import Glibc
package import TreeScan

/// One of the two folders. Threads may share it.
///
/// The steps of a run need no more than this of a side, so a side may be a folder of this machine or of another one.
package protocol Replica: Sendable {
    /// The side.
    var side: Side { get }
    /// The folder for people: a path, or an address.
    var place: String { get }
    /// Whether owners are in step. Both sides must be able to set them.
    var setsOwners: Bool { get }

    /// What an agent of an earlier version leaves behind, for people; nil if it does all.
    var shortcoming: String? { get }

    /// Begins a run.
    ///
    /// - Parameter settingOwners: Whether the other side can set owners.
    /// - Returns: Whether both sides can.
    func begin(settingOwners: Bool) async throws -> Bool

    /// Throws `SyncError.replaced` if another folder is in the place of the open one.
    func checkIsCurrent() async throws

    /// The inode of the root.
    func identity() async throws -> UInt64

    /// Opens a folder below the root.
    ///
    /// - Throws: `FileSystemFailure` if there is no such folder, and `SyncError`.
    func folder(_ path: RelativePath) async throws -> any ReplicaFolder

    /// A name for a temporary file that no other has, also not one of an earlier process.
    func temporaryName() -> [UInt8]

    /// Looks at all entries.
    ///
    /// - Parameters:
    ///   - time: The present, by the clock of this machine.
    ///   - probing: Whether a temporary file may show how the file system compares names.
    ///   - rules: The entries that are not looked at. An entry that is left out may be in the scan all the same,
    ///     without those below it.
    func scan(at time: Int64, probing: Bool, leavingOut rules: ExcludeRules) async throws -> SideScan

    /// The prints of the extended attributes of files and folders. Those that cannot be read, or that the file system
    /// has none for, are left out.
    func attributes(of paths: [RelativePath]) async throws -> [RelativePath: AttributePrint]

    /// The SHA-256 of a file; nil if it cannot be read, or is not as it was seen.
    func digest(of entry: Observation) async throws -> [UInt8]?

    /// Puts changes on the disk.
    ///
    /// - Throws: `SyncError.notWritten`.
    func synchronize(_ changes: DiskChanges) async throws
}

extension Replica {
    /// Opens a folder below the root; nil if the file system refuses.
    ///
    /// - Throws: `SyncError` if the side does not answer: then nothing is known about the folder.
    func folderIfThere(_ path: RelativePath) async throws -> (any ReplicaFolder)? {
        do {
            return try await folder(path)
        } catch is FileSystemFailure {
            return nil
        }
    }

    package var shortcoming: String? { nil }

    /// A name for people.
    func display(_ path: RelativePath) -> String { "\(side.rawValue)/\(path.display)" }
}

/// An open folder of a side. Each step is relative to it, and follows no link.
package protocol ReplicaFolder: Sendable {
    /// The path below the root.
    var path: RelativePath { get }

    /// Looks at the folder itself.
    func status() async throws -> EntryStatus

    /// Looks at an entry; nil if there is none.
    func status(_ name: [UInt8]) async throws -> EntryStatus?

    /// Makes a symbolic link.
    func makeLink(_ name: [UInt8], to target: [UInt8]) async throws

    /// Makes a named pipe.
    func makePipe(_ name: [UInt8]) async throws

    /// Makes a further name of a file, link(2).
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - folder: Its folder, of the same side.
    func makeName(_ temporary: [UInt8], of name: [UInt8], in folder: any ReplicaFolder) async throws

    /// Makes a folder that its owner alone may use.
    func makeFolder(_ name: [UInt8]) async throws

    /// Removes an entry: a temporary file, or an empty folder.
    func remove(_ name: [UInt8], isFolder: Bool) async throws

    /// Removes a temporary file, if it is there. A failure has no effect.
    func discard(_ name: [UInt8]) async

    /// Renames an entry to a name that must be free. It is never replaced, also if it appears at this moment.
    ///
    /// - Throws: `FileSystemFailure` with `EEXIST` if the name is taken.
    func rename(_ old: [UInt8], to new: [UInt8], in folder: any ReplicaFolder) async throws

    /// Lets two names change places if the second one still has the entry that was seen.
    func exchange(_ temporary: [UInt8], with name: [UInt8], ifStill old: Observation) async throws -> NameExchange

    /// The extended attributes of a file or a folder; nil if they cannot be read, or the file system has none.
    func attributes(of name: [UInt8]) async throws -> AttributeSet?

    /// Sets and removes extended attributes of a file or a folder.
    ///
    /// - Returns: The names of those for which that could not be done.
    func changeAttributes(
        of name: [UInt8], setting values: AttributeSet, removing names: [[UInt8]]
    ) async throws -> [[UInt8]]

    /// Sets owner, mode and time of an entry by name, the time last.
    func setMetadata(_ name: [UInt8], _ metadata: Metadata, kind: FileKind, owner: Bool) async throws

    /// Sets the time of an entry, or of the folder itself if the name is empty. A failure has no effect.
    func setTime(_ name: [UInt8], _ modified: Int64) async
}

/// The result of a step that lets two names change places.
package enum NameExchange: String, Sendable, Codable {
    /// Another entry has the name. Nothing was done.
    case refused
    /// The names changed places.
    case exchanged
    /// The file system cannot do it. The first name replaced the second, and is gone.
    case replaced
}

extension ReplicaFolder {
    /// A failure of a step on an entry of this folder.
    package func failure(_ operation: String, _ name: [UInt8], _ code: Int32 = errno) -> FileSystemFailure {
        FileSystemFailure(path: path.appending(name), operation: operation, code: code)
    }
}

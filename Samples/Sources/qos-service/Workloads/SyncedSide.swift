internal import Glibc
internal import SyncAgent
internal import TreeScan

/// One side of the sync as requests look at it.
enum SyncedSide: Sendable {
    /// A folder of this machine, by its path.
    case folder(String)
    /// A folder of another machine.
    case agent(AgentLook)

    /// Looks at an entry; nil if there is none.
    ///
    /// - Throws: The errors of an agent that gives no answer.
    func status(of path: RelativePath) async throws -> EntryStatus? {
        switch self {
        case .folder(let folder):
            guard let root = try? RootFolder(folder), let number = try? root.descriptor(of: path, for: .status)
            else { return nil }
            defer { close(number) }
            return EntryStatus(descriptor: number)
        case .agent(let look): return try await look.status(of: path)
        }
    }
}

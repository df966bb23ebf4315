internal import Foundation
internal import SafeFiles
internal import Sync
internal import Synchronization
internal import TreeScan

/// A folder of another machine, by its agent. Threads may share it. It trusts nothing that the agent says.
final class RemoteReplica: DistantReplica {
    private struct State {
        var session: String?
        var setsOwners = false
        var inode: UInt64 = 0
        var level = 1
        var count = 0
    }

    /// The bytes of paths in one request.
    private static let pathBytes = 1 << 20

    let side = Side.b
    let client: AgentClient

    private let pair: String
    private let state = Mutex(State())

    var place: String { client.address.description }
    var setsOwners: Bool { state.withLock { $0.setsOwners } }
    /// What the agent knows, as `AgentCommand.level` counts it.
    var level: Int { state.withLock { $0.level } }

    var shortcoming: String? {
        guard level < 2 else { return nil }
        return "\(place): the agent is of an earlier version. Extended attributes, holes and hard links stay behind."
    }

    /// - Parameter pair: The name of the archive. It is a part of the names of temporary files.
    init(_ client: AgentClient, pair: String) {
        self.client = client
        self.pair = pair
    }

    /// Sends a command within the session.
    func call(
        _ command: AgentCommand, at path: RelativePath = .root, payload: [UInt8] = [],
        onPiece: (ArraySlice<UInt8>) async throws -> Void
    ) async throws -> AgentAnswer {
        let session = state.withLock { $0.session }
        return try await client.call(command, at: path, session: session, payload: payload, onPiece: onPiece)
    }

    /// Sends a command that has no pieces in its answer.
    func call(_ command: AgentCommand, at path: RelativePath = .root) async throws -> AgentAnswer {
        try await client.call(command, at: path, session: state.withLock { $0.session })
    }

    func wrong(_ detail: String) -> SyncError { .wrongAnswer(side, place: place, detail: detail) }

    // MARK: The side

    func begin(settingOwners: Bool) async throws -> Bool {
        client.reset()
        let command = AgentCommand.open(pair: pair, version: AgentCommand.version, setsOwners: settingOwners)
        let answer = try await client.call(command, at: .root, session: nil)
        guard let session = answer.session, session.identifier.utf8.count <= 100,
            session.identifier.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw wrong("it opened no session") }
        state.withLock { state in
            state.session = session.identifier
            state.setsOwners = settingOwners && session.setsOwners
            state.inode = session.inode
            state.level = session.level ?? 1
        }
        return settingOwners && session.setsOwners
    }

    /// The agent looks at each command.
    func checkIsCurrent() {}

    func identity() -> UInt64 { state.withLock { $0.inode } }

    func folder(_ path: RelativePath) async throws -> any ReplicaFolder {
        let folder = RemoteFolder(path, of: self)
        _ = try await folder.status()
        return folder
    }

    func temporaryName() -> [UInt8] {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return TemporaryName.make(TemporaryName.prefix(pair: pair), number)
    }

    func scan(at time: Int64, probing: Bool, leavingOut rules: ExcludeRules) async throws -> SideScan {
        let prefix = TemporaryName.prefix(pair: pair)
        let owners = setsOwners
        var scan = SideScan()
        var folders: Set<RelativePath> = [.root]
        let answer = try await call(.scan(probing: probing, excludes: rules.isEmpty ? nil : rules.patterns)) { bytes in
            switch try ScanPiece(decoding: bytes) {
            case .entry(var entry):
                guard scan.entries.last.map({ $0.path < entry.path }) ?? true else {
                    throw WireError("the entries are not in order")
                }
                guard folders.contains(entry.path.parent) else { throw WireError("an entry is in no folder") }
                if entry.kind == .directory { folders.insert(entry.path) }
                if !owners { (entry.metadata.owner, entry.metadata.group) = (0, 0) }
                scan.entries.append(entry)
            case .blocked(let path): scan.blocked.insert(path)
            case .leftover(let path):
                guard path.name.starts(with: prefix) else { throw WireError("a leftover is no temporary file") }
                scan.leftovers.append(path)
            case .skipped(let text): scan.skipped.append(text)
            }
        }
        guard let time = answer.time else { throw wrong("the scan has no time") }
        scan.time = time
        scan.foldsCase = answer.foldsCase ?? false
        return scan
    }

    /// The attributes of an answer.
    func values(_ attributes: [AgentAttribute]) throws -> AttributeSet {
        do {
            return try AgentAttribute.values(attributes, privileged: setsOwners)
        } catch {
            throw wrong(error.description)
        }
    }

    func attributes(of paths: [RelativePath]) async throws -> [RelativePath: AttributePrint] {
        guard level >= 2 else { return [:] }
        var found: [RelativePath: AttributePrint] = [:]
        var rest = paths[...]
        while !rest.isEmpty {
            var payload: [UInt8] = []
            var asked: Set<RelativePath> = []
            while let path = rest.first, payload.count < Self.pathBytes {
                payload += FrameReader.frame(path.bytes)
                asked.insert(path)
                rest = rest.dropFirst()
            }
            _ = try await call(.attributePrints, payload: payload) { piece in
                let (path, print) = try PrintPiece.decode(piece)
                guard asked.contains(path) else { throw WireError("an entry was not asked for") }
                found[path] = print
            }
        }
        return found
    }

    func digest(of entry: Observation) async throws -> [UInt8]? {
        do {
            return try await call(.digest(SeenEntry(entry)), at: entry.path).digest.map { Array($0) }
        } catch is FileSystemFailure {
            return nil
        }
    }

    func synchronize(_ changes: DiskChanges) async throws {
        guard !changes.isEmpty else { return }
        do {
            _ = try await call(.synchronize)
        } catch let failure as FileSystemFailure {
            throw SyncError.notWritten(side, code: failure.code)
        }
    }
}

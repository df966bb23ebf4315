internal import Foundation
internal import Glibc
internal import Sync
internal import TreeScan

/// A folder below the root of another machine's folder. Each step is one request.
struct RemoteFolder: ReplicaFolder {
    let path: RelativePath

    private let replica: RemoteReplica

    init(_ path: RelativePath, of replica: RemoteReplica) {
        self.path = path
        self.replica = replica
    }

    private var data: Data { Data(path.bytes) }

    private func call(_ command: AgentCommand, _ name: [UInt8] = []) async throws -> AgentAnswer {
        try await replica.call(command, at: name.isEmpty ? path : path.appending(name))
    }

    func status() async throws -> EntryStatus {
        guard let status = try await call(.folder(data)).status?.status, status.kind == .directory else {
            throw replica.wrong("a folder has no status")
        }
        return status
    }

    func status(_ name: [UInt8]) async throws -> EntryStatus? {
        guard let seen = try await call(.status(folder: data, name: Data(name)), name).status else { return nil }
        guard let status = seen.status else { throw replica.wrong("an entry has no status") }
        return status
    }

    func makeLink(_ name: [UInt8], to target: [UInt8]) async throws {
        _ = try await call(.makeLink(folder: data, name: Data(name), target: Data(target)), name)
    }

    func makePipe(_ name: [UInt8]) async throws {
        _ = try await call(.makePipe(folder: data, name: Data(name)), name)
    }

    func makeName(_ temporary: [UInt8], of name: [UInt8], in folder: any ReplicaFolder) async throws {
        guard replica.level >= 2 else { throw failure("link", temporary, ENOSYS) }
        let command = AgentCommand.makeName(
            folder: data, name: Data(temporary), fileFolder: Data(folder.path.bytes), file: Data(name))
        _ = try await call(command, temporary)
    }

    func makeFolder(_ name: [UInt8]) async throws {
        _ = try await call(.makeFolder(folder: data, name: Data(name)), name)
    }

    func remove(_ name: [UInt8], isFolder: Bool) async throws {
        _ = try await call(.remove(folder: data, name: Data(name), isFolder: isFolder), name)
    }

    func discard(_ name: [UInt8]) async {
        try? await remove(name, isFolder: false)
    }

    func rename(_ old: [UInt8], to new: [UInt8], in folder: any ReplicaFolder) async throws {
        let command = AgentCommand.rename(
            folder: data, old: Data(old), newFolder: Data(folder.path.bytes), new: Data(new))
        _ = try await replica.call(command, at: folder.path.appending(new))
    }

    func exchange(_ temporary: [UInt8], with name: [UInt8], ifStill old: Observation) async throws -> NameExchange {
        let command = AgentCommand.exchange(
            folder: data, temporary: Data(temporary), name: Data(name), old: SeenEntry(old))
        guard let result = try await call(command, name).exchange else {
            throw replica.wrong("an exchange has no result")
        }
        return result
    }

    func setMetadata(_ name: [UInt8], _ metadata: Metadata, kind: FileKind, owner: Bool) async throws {
        let command = AgentCommand.setMetadata(
            folder: data, name: Data(name), metadata: metadata, kind: kind.rawValue, owner: owner)
        _ = try await call(command, name)
    }

    func attributes(of name: [UInt8]) async throws -> AttributeSet? {
        guard replica.level >= 2 else { return nil }
        let answer = try await call(.attributes(folder: data, name: Data(name)), name)
        return try answer.attributes.map { try replica.values($0) }
    }

    func changeAttributes(
        of name: [UInt8], setting values: AttributeSet, removing names: [[UInt8]]
    ) async throws -> [[UInt8]] {
        guard replica.level >= 2 else { return names + values.keys }
        let (sent, left) = AgentAttribute.all(of: values, privileged: replica.setsOwners)
        let command = AgentCommand.changeAttributes(
            folder: data, name: Data(name), values: sent, removed: names.map { Data($0) })
        return left + (try await call(command, name).lost ?? []).map { Array($0) }
    }

    func setTime(_ name: [UInt8], _ modified: Int64) async {
        _ = try? await call(.setTime(folder: data, name: Data(name), modified: modified), name)
    }
}

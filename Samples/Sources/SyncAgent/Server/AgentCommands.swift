internal import Foundation
internal import Glibc
internal import QoSRuntime
internal import SafeFiles
internal import Sync
internal import TreeScan

/// Does single commands in the folder. It trusts nothing that a command says.
struct AgentCommands: Sendable {
    let session: AgentSession

    private var replica: LocalReplica { session.replica }

    /// Does a command that has neither a payload nor pieces.
    ///
    /// - Throws: `FileSystemFailure`, `WireError`, `SyncError`.
    func perform(_ command: AgentCommand) async throws -> AgentAnswer {
        switch command {
        case .digest(let seen):
            var answer = AgentAnswer()
            answer.digest = try await replica.digest(of: try seen.observation()).map { Data($0) }
            return answer
        case .synchronize:
            var changes = DiskChanges()
            changes.hasMore = true
            try await replica.synchronize(changes)
            return AgentAnswer()
        default: return try await QoS.withBlocking { try change(command) }
        }
    }

    private func change(_ command: AgentCommand) throws -> AgentAnswer {
        var answer = AgentAnswer()
        // What the client's wait for all does not cover.
        var changes = DiskChanges()
        func names(of path: Data) throws -> LocalFolder {
            let folder = try folder(path)
            if !folder.isCovered { changes.entries.insert(folder.path) }
            return folder
        }
        switch command {
        case .folder(let path): answer.status = SeenStatus(try folder(path).status())
        case .status(let path, let name):
            answer.status = try folder(path).status(try NameRules.name(Array(name))).map(SeenStatus.init)
        case .makeLink(let path, let name, let target):
            guard !target.isEmpty, !target.contains(0) else { throw WireError("a link has no target") }
            try names(of: path).makeLink(try temporary(name), to: Array(target))
        case .makePipe(let path, let name): try names(of: path).makePipe(try temporary(name))
        case .makeName(let path, let name, let filePath, let file):
            try names(of: path).makeName(
                try temporary(name), of: try NameRules.name(Array(file)), in: try folder(filePath))
        case .makeFolder(let path, let name): try names(of: path).makeFolder(try NameRules.name(Array(name)))
        case .remove(let path, let name, let isFolder):
            let name = isFolder ? try NameRules.name(Array(name)) : try temporary(name)
            try names(of: path).remove(name, isFolder: isFolder)
        case .rename(let path, let old, let newPath, let new):
            try names(of: path).rename(
                try NameRules.name(Array(old)), to: try NameRules.name(Array(new)), in: try names(of: newPath))
        case .exchange(let path, let name, let other, let old):
            answer.exchange = try names(of: path).exchange(
                try temporary(name), with: try NameRules.name(Array(other)), ifStill: try old.observation())
        case .setMetadata(let path, let name, let metadata, let kind, let owner):
            guard let kind = FileKind(rawValue: kind) else { throw WireError("a kind is unknown") }
            let (folder, name) = (try folder(path), try NameRules.name(Array(name)))
            try folder.setMetadata(name, metadata, kind: kind, owner: owner && replica.setsOwners)
            if !folder.isCovered { changes.noteMetadata(of: folder.path.appending(name), kind: kind) }
        case .attributes(let path, let name):
            answer.attributes = try folder(path).attributes(of: try NameRules.name(Array(name))).map {
                AgentAttribute.all(of: $0, privileged: replica.setsOwners).sent
            }
        case .changeAttributes(let path, let name, let values, let removed):
            let (folder, name) = (try folder(path), try NameRules.name(Array(name)))
            let privileged = replica.setsOwners
            let names = try removed.map { try AgentAttribute.name($0) }.filter {
                AgentAttribute.mayGo($0, privileged: privileged)
            }
            answer.lost = try folder.changeAttributes(
                of: name, setting: try AgentAttribute.values(values, privileged: privileged), removing: names
            ).map { Data($0) }
            if !folder.isCovered { changes.noteMetadata(of: folder.path.appending(name), kind: .regular) }
        case .setTime(let path, let name, let modified):
            try names(of: path).setTime(name.isEmpty ? [] : try NameRules.name(Array(name)), modified)
        case .synchronizeNames(let path):
            answer.code = FileBytes.synchronizeNames(in: try folder(path).descriptor)
        case .open, .scan, .digest, .synchronize, .chunks, .read, .write, .attributePrints:
            throw WireError("this is no command without a payload")
        }
        try replica.synchronizeNow(changes)
        return answer
    }

    func folder(_ path: Data) throws -> LocalFolder {
        try replica.localFolder(try NameRules.path(Array(path)))
    }

    func temporary(_ name: Data) throws(WireError) -> [UInt8] {
        try NameRules.temporary(Array(name), pair: session.pair)
    }

    // MARK: Contents

    /// Opens a file that a client saw.
    ///
    /// - Throws: `FileSystemFailure` with `ESTALE` if it is another one by now.
    func open(_ seen: SeenEntry) throws -> (OpenDescriptor, Observation, FileStamp) {
        let entry = try seen.observation()
        let file = OpenDescriptor(owning: try replica.root.descriptor(of: entry.path, for: .reading))
        guard let status = EntryStatus(descriptor: file.number), entry.kind == .regular, entry.isSame(as: status) else {
            throw FileSystemFailure(path: entry.path, operation: "read", code: ESTALE)
        }
        return (file, entry, status.stamp)
    }

    /// Writes a part of a temporary file.
    func write(_ part: AgentPart, _ frames: inout FrameReader) async throws -> AgentAnswer {
        let folder = try folder(part.folder)
        let name = try temporary(part.temporary)
        guard part.size >= 0, (0...part.size).contains(part.start) else { throw WireError("a part is out of its file") }
        guard folder.hasRoom(for: min(part.room ?? .max, part.size - part.start)) else {
            throw folder.failure("make room for", name, ENOSPC)
        }
        let output = OpenDescriptor(
            owning: part.start == 0 ? try folder.makeFile(name) : try existing(name, in: folder, size: part.start))
        let former = try part.former.map { try open($0) }
        var lost: [[UInt8]] = []
        var writer = DeltaWriter(former: former?.0, output: output, from: part.start, limit: part.size)
        while let frame = try frames.next() {
            guard let step = try DeltaStep(frame) else { throw WireError("a step is of an unknown kind") }
            let code = try await writer.write(step)
            guard code == 0 else { throw folder.failure("write", name, code) }
        }
        guard frames.isEmpty else { throw WireError("the last step is not whole") }
        if part.isDurable, fdatasync(output.number) != 0 { throw folder.failure("write", name) }
        if let end = part.end {
            guard writer.position == part.size, let digest = await FileDigest.compute(output, to: part.size),
                digest == Array(end.digest)
            else { throw folder.failure("check", name, EBADMSG) }
            let owner = end.setsOwners && replica.setsOwners
            let attributes = try end.attributes.map { try AgentAttribute.values($0, privileged: owner) }
            let code = LocalFolder.setMetadata(
                output.number, end.metadata, owner: owner, attributes: attributes, lost: &lost)
            guard code == 0 else { throw folder.failure("set the metadata of", name, code) }
        }
        guard let status = EntryStatus(descriptor: output.number) else { throw folder.failure("stat", name) }
        if !folder.isCovered, part.end != nil {
            let code = await QoS.withBlocking { output.synchronize() }
            guard code == 0 else { throw folder.failure("write", name, code) }
        }
        var answer = AgentAnswer()
        answer.status = SeenStatus(status)
        answer.reused = writer.reused
        answer.lost = lost.isEmpty ? nil : lost.map { Data($0) }
        return answer
    }

    private func existing(_ name: [UInt8], in folder: LocalFolder, size: Int64) throws -> Int32 {
        guard let file = folder.openFile(name, writing: true) else { throw folder.failure("open", name) }
        guard let status = EntryStatus(descriptor: file), status.kind == .regular, status.stamp.size >= size,
            ftruncate(file, off_t(size)) == 0
        else {
            close(file)
            throw folder.failure("open", name, ESTALE)
        }
        return file
    }
}

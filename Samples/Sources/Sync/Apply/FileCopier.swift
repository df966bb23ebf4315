internal import CFileSystem
internal import Glibc
internal import QoSRuntime
internal import SafeFiles
internal import TreeScan

/// Writes single entries under temporary names. Threads share it.
struct FileCopier: Sendable {
    /// The end of one entry.
    enum Outcome: Sendable {
        case prepared(PreparedEntry)
        case skipped(String)
    }

    typealias Preparation = (action: SyncAction, result: Result<Outcome, any Error>)

    private static let piece = 4 << 20

    let replicas: Pair<any Replica>
    let archive: SyncArchive
    let options: SyncOptions
    let parts: [PartialFile]

    /// Writes the sources of actions of one folder. After an error it goes on with none.
    func prepare(_ actions: [SyncAction], in folder: any ReplicaFolder, isAlone: Bool) async -> [Preparation] {
        var done: [Preparation] = []
        var small: SmallFiles?
        if let first = actions.first, SmallFiles.contains(first, options) {
            small = SmallFiles(of: first.path.parent, in: folder, on: first.side, copier: self, isAlone: isAlone)
        }
        while done.count < actions.count {
            do {
                let rest = Array(actions[done.count...])
                let results = try await small?.copy(rest) ?? []
                for (action, result) in zip(rest, results) { done.append((action, result)) }
                // The throttle grants less than a file has, or the sides are on two machines.
                if results.isEmpty {
                    done.append((rest[0], .success(try await prepare(rest[0], in: folder, isAlone: isAlone))))
                }
            } catch {
                done.append((actions[done.count], .failure(error)))
            }
            if case .failure = done.last?.result { break }
        }
        return done
    }

    /// Writes the source of an action.
    ///
    /// - Parameter isAlone: Whether its content is put on the disk at once, and not with that of others.
    /// - Throws: `SyncError` if the side cannot be written at all, and `CancellationError`. Other failures are values.
    func prepare(_ action: SyncAction, in folder: any ReplicaFolder, isAlone: Bool) async throws -> Outcome {
        guard let source = action.source else { return .skipped("no source") }
        let name = Array(action.path.name)
        do {
            guard Self.isAsSeen(action, try await folder.status(name)) else { return changed(action) }
            return switch source.kind {
            case .regular: try await prepareFile(action, source, in: folder, isAlone)
            default: .prepared(try await prepareSpecial(action, source, in: folder))
            }
        } catch let failure as FileSystemFailure {
            return try outcome(of: action) { throw failure }
        }
    }

    /// Runs a body. A failure of this entry alone becomes a value.
    func outcome(of action: SyncAction, _ body: () throws -> Outcome) throws -> Outcome {
        do {
            return try body()
        } catch let failure as FileSystemFailure {
            try Self.check(failure, action.side)
            if Self.isFull(failure) { return noRoom(action) }
            return .skipped(
                failure.isVanished
                    ? "\(display(action)) changed during the run; the next run looks again"
                    : "\(display(action)): \(failure)")
        }
    }

    /// The outcome for an entry of the other side that changed.
    func changed(_ action: SyncAction) -> Outcome {
        .skipped("\(display(action)) changed after the scan; the next run looks again")
    }

    /// Throws for a failure that all other entries would have, too.
    static func check(_ failure: FileSystemFailure, _ side: Side) throws(SyncError) {
        if failure.code == EROFS { throw .readOnly(side) }
    }

    /// Whether an entry has no room. Smaller ones may have it: the run goes on with them.
    static func isFull(_ error: any Error) -> Bool {
        guard let failure = error as? FileSystemFailure else { return false }
        return failure.code == ENOSPC || failure.code == EDQUOT
    }

    /// The outcome for a file that has no room.
    func noRoom(_ action: SyncAction) -> Outcome { .skipped("\(display(action)): \(Self.noRoom(on: action.side))") }

    static func noRoom(on side: Side) -> String {
        "there is no room for it on \(side.rawValue), with a reserve for others. Free some, and run again"
    }

    private func display(_ action: SyncAction) -> String { replicas[action.side].display(action.path) }

    /// Whether the entry under the name is the one that a step expects.
    static func isAsSeen(_ action: SyncAction, _ status: EntryStatus?) -> Bool {
        guard let old = action.old else { return status == nil }
        return status.map { old.isSame(as: $0) } ?? false
    }

    // MARK: Links and pipes

    private func prepareSpecial(
        _ action: SyncAction, _ source: Observation, in folder: any ReplicaFolder
    ) async throws -> PreparedEntry {
        let replica = replicas[action.side]
        let temporary = replica.temporaryName()
        if source.kind == .symbolicLink {
            try await folder.makeLink(temporary, to: source.target)
        } else {
            try await folder.makePipe(temporary)
        }
        do {
            try await folder.setMetadata(temporary, action.metadata, kind: source.kind, owner: replica.setsOwners)
            guard let status = try await folder.status(temporary) else {
                throw folder.failure("stat", temporary, ENOENT)
            }
            return PreparedEntry(
                action: action, temporary: temporary,
                written: ArchiveEntry.SideState(
                    written: status, metadata: Metadata(of: status, owners: replica.setsOwners)),
                source: ArchiveEntry.SideState(source, at: options.now()))
        } catch {
            await folder.discard(temporary)
            throw error
        }
    }

    // MARK: Files

    private func prepareFile(
        _ action: SyncAction, _ seen: Observation, in folder: any ReplicaFolder, _ isAlone: Bool
    ) async throws -> Outcome {
        let (across, replica) = (replicas[action.side.other], replicas[action.side])
        if let across = across as? LocalReplica, let replica = replica as? any DistantReplica {
            return try await DistantCopier(copier: self).send(action, seen, in: folder, from: across, to: replica)
        }
        guard let folder = folder as? LocalFolder else { return .skipped("no way between two other machines") }
        let isAlone = isAlone || !folder.isCovered
        if let across = across as? any DistantReplica {
            return try await DistantCopier(copier: self).receive(action, seen, in: folder, from: across, isAlone)
        }
        guard let across = across as? LocalReplica else { return .skipped("no source") }
        return try await copyFile(action, seen, in: folder, from: across, isAlone)
    }

    /// Copies within this machine.
    private func copyFile(
        _ action: SyncAction, _ seen: Observation, in folder: LocalFolder, from across: LocalReplica, _ isAlone: Bool
    ) async throws -> Outcome {
        let (replica, name) = (replicas[action.side], Array(action.path.name))
        let time = options.now()
        let input = OpenDescriptor(owning: try across.root.descriptor(of: seen.path, for: .reading))
        guard let before = EntryStatus(descriptor: input.number), seen.isSame(as: before) else {
            return .skipped("\(across.display(seen.path)) changed after the scan; the next run looks again")
        }
        var source = seen
        source.stamp = before.stamp
        let state = ArchiveEntry.SideState(source, at: time)
        let earlier = self.part(of: action, state)?.done ?? 0
        guard folder.hasRoom(for: LocalFolder.occupied(input.number).subtractingClamped(earlier)) else {
            return noRoom(action)
        }
        let (temporary, output, part) = try open(action, state, in: folder)
        var done = part?.done ?? 0
        var prepared = PreparedEntry(
            action: action, temporary: temporary, isDurable: isAlone, written: state,
            source: state, bytes: before.stamp.size, resumed: done, part: part)
        do {
            if before.stamp.size >= options.largeFile, let old = action.old, old.kind == .regular, done == 0,
                let former = folder.openFile(name, writing: false)
            {
                let former = OpenDescriptor(owning: former)
                prepared.reused = try await ChunkCopy(
                    source: input, former: former, target: output, path: action.path
                ).run(from: done, size: before.stamp.size) { done in try note(&prepared, output, done) }
            } else {
                try await copy(input, to: output, from: &done, size: before.stamp.size, action) { done in
                    try note(&prepared, output, done)
                }
            }
            let after = EntryStatus(descriptor: input.number)
            guard after?.stamp == before.stamp else {
                await discard(prepared, in: folder)
                return .skipped("\(across.display(seen.path)) changed while it was copied; the next run copies it")
            }
            let attributes = ExtendedAttributes.all(of: input.number)
            let code = LocalFolder.setMetadata(
                output.number, action.metadata, owner: replica.setsOwners, attributes: attributes ?? [:],
                lost: &prepared.lost)
            guard code == 0 else { throw folder.failure("set the metadata of", name, code) }
            guard let status = EntryStatus(descriptor: output.number) else { throw folder.failure("stat", temporary) }
            prepared.written = ArchiveEntry.SideState(
                written: status, metadata: Metadata(of: status, owners: replica.setsOwners))
            prepared.noteAttributes(attributes, of: output.number)
            // Not of zeros without end.
            let isReadable = LocalFolder.occupied(output.number) >= status.stamp.size / 2
            if prepared.written.mayBecomeRacy && isReadable || status.stamp.size <= FileDigest.cheap {
                prepared.digest = await FileDigest.compute(output, to: status.stamp.size)
            }
            if isAlone { try await synchronize(output, of: action) }
            options.reached(.copied)
            return .prepared(prepared)
        } catch {
            // A large file stays as far as it is on the disk: the next run goes on there. Not if it fills the disk.
            if prepared.part == nil || Self.isFull(error) { await discard(prepared, in: folder) }
            throw error
        }
    }

    /// Removes a temporary file, and what the journal says about it.
    func discard(_ prepared: PreparedEntry, in folder: any ReplicaFolder) async {
        await folder.discard(prepared.temporary)
        if let part = prepared.part { try? archive.forget(part) }
    }

    /// The temporary file of an interrupted run that has the beginning of the same content.
    func part(of action: SyncAction, _ source: ArchiveEntry.SideState) -> PartialFile? {
        parts.first { $0.side == action.side && $0.path == action.path.bytes && $0.source.isSame(as: source) }
    }

    /// Opens a new temporary file, or one of an interrupted run that has the beginning of the same content.
    func open(
        _ action: SyncAction, _ source: ArchiveEntry.SideState, in folder: LocalFolder
    ) throws(FileSystemFailure) -> ([UInt8], OpenDescriptor, PartialFile?) {
        let side = action.side
        if let earlier = part(of: action, source), let file = folder.openFile(earlier.temporary, writing: true) {
            let output = OpenDescriptor(owning: file)
            if let status = EntryStatus(descriptor: file), status.stamp.inode == earlier.inode,
                status.stamp.size >= earlier.done, ftruncate(file, off_t(earlier.done)) == 0
            {
                return (earlier.temporary, output, earlier)
            }
        }
        let temporary = replicas[side].temporaryName()
        let output = OpenDescriptor(owning: try folder.makeFile(temporary))
        guard source.size >= options.largeFile, let status = EntryStatus(descriptor: output.number) else {
            return (temporary, output, nil)
        }
        let part = PartialFile(
            side: side, path: action.path.bytes, temporary: temporary, inode: status.stamp.inode,
            source: Intent.State(source), done: 0)
        return (temporary, output, part)
    }

    /// Writes down how far a large file is, after its bytes are on the disk.
    func note(_ prepared: inout PreparedEntry, _ file: OpenDescriptor, _ done: Int64) throws {
        guard var part = prepared.part, done >= part.done + options.largeFile / 4 else { return }
        guard fdatasync(file.number) == 0 else { throw SyncError.notWritten(prepared.action.side, code: errno) }
        part.done = done
        prepared.part = part
        try archive.note(part)
        options.reached(.partWritten)
    }

    /// Puts a file on the disk.
    func synchronize(_ file: OpenDescriptor, of action: SyncAction) async throws {
        options.disk.waits(.file)
        let code = await QoS.withBlocking { file.synchronize() }
        guard code == 0 else { throw SyncError.notWritten(action.side, code: code) }
    }

    /// Copies within the kernel where that can be done, and else through memory.
    private func copy(
        _ input: OpenDescriptor, to output: OpenDescriptor, from position: inout Int64, size: Int64,
        _ action: SyncAction, _ progress: (Int64) throws -> Void
    ) async throws {
        while position < size {
            try Task.checkCancellation()
            let data = FileBytes.data(input.number, from: position, to: size)
            let end = data.upperBound
            if data.lowerBound > position {
                // A hole stays one.
                position = data.lowerBound
                guard ftruncate(output.number, off_t(position)) == 0 else {
                    throw FileSystemFailure(path: action.path, operation: "copy", code: errno)
                }
                try progress(position)
                continue
            }
            let (offset, wanted) = (position, Int(min(Int64(Self.piece), end - position)))
            let (count, code) = try await IOThrottle.process.perform(bytes: wanted) { granted in
                Self.copyPiece(input.number, output.number, at: offset, count: max(1, min(wanted, granted)))
            }
            guard code == 0 else {
                throw FileSystemFailure(path: action.path, operation: "copy", code: code)
            }
            // It got shorter: the look at its end finds that out.
            guard count > 0 else { return }
            position += Int64(count)
            try progress(position)
        }
    }

    /// Copies up to `count` bytes to the same place. Returns their number, and the error number, or 0.
    static func copyPiece(_ input: Int32, _ output: Int32, at offset: Int64, count: Int) -> (Int, Int32) {
        var from = off_t(offset)
        var to = off_t(offset)
        let copied = unsafe copy_file_range(input, &from, output, &to, count, 0)
        if copied > 0 { return (copied, 0) }
        if copied < 0, ![EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EINTR, EBADF].contains(errno) { return (0, errno) }
        // Another file system, an old kernel, or a file that has no bytes for the kernel, such as those of /proc.
        let (bytes, code) = FileBytes.read(input, from: Int(offset), count: count)
        guard code == 0 else { return (0, code) }
        return (bytes.count, FileBytes.write(bytes[...], to: output, at: offset))
    }
}

extension Intent.State {
    /// Whether a file is as it was.
    fileprivate func isSame(as other: ArchiveEntry.SideState) -> Bool {
        inode == other.inode && size == other.size && changed == other.changed
            && modified == other.metadata.modified && !isRacy
    }
}

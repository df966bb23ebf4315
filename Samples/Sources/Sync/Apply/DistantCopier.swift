internal import Glibc
internal import SafeFiles
internal import TreeScan

/// Writes single files under temporary names if one side is another machine.
struct DistantCopier: Sendable {
    /// The smallest and the largest part of a large file, in bytes.
    private static let part: (smallest: Int64, largest: Int64) = (256 << 10, 8 << 20)
    /// An old version that is smaller is not worth a list of its chunks.
    private static let smallestFormer: Int64 = 8 << 10

    let copier: FileCopier

    // MARK: To the other machine

    func send(
        _ action: SyncAction, _ seen: Observation, in folder: any ReplicaFolder, from here: LocalReplica,
        to there: any DistantReplica
    ) async throws -> FileCopier.Outcome {
        let time = copier.options.now()
        let input = OpenDescriptor(owning: try here.root.descriptor(of: seen.path, for: .reading))
        guard let before = EntryStatus(descriptor: input.number), seen.isSame(as: before) else {
            return .skipped("\(here.display(seen.path)) changed after the scan; the next run looks again")
        }
        var source = seen
        source.stamp = before.stamp
        let state = ArchiveEntry.SideState(source, at: time)
        var earlier = copier.part(of: action, state)
        if let known = earlier {
            let status = try await folder.status(known.temporary)
            let isThere = status.map { $0.stamp.inode == known.inode && $0.stamp.size >= known.done } ?? false
            if !isThere { earlier = nil }
        }
        let start = earlier?.done ?? 0
        var prepared = PreparedEntry(
            action: action,
            temporary: earlier?.temporary ?? there.temporaryName(), written: state, source: state,
            bytes: before.stamp.size, resumed: start, part: earlier)
        prepared.isDurable = false
        var order = SendOrder(
            path: action.path, temporary: prepared.temporary, size: before.stamp.size, start: start,
            metadata: action.metadata)
        let attributes = ExtendedAttributes.all(of: input.number)
        order.attributes = attributes ?? [:]
        order.room = LocalFolder.occupied(input.number).subtractingClamped(start)
        if start == 0 { order.former = action.old.flatMap(former) }
        if before.stamp.size >= copier.options.largeFile {
            order.durablePart = max(Self.part.smallest, min(copier.options.largeFile / 4, Self.part.largest))
        }
        do {
            let result = try await there.send(order, from: input) { progress in
                prepared.part = PartialFile(
                    side: action.side, path: action.path.bytes, temporary: prepared.temporary, inode: progress.inode,
                    source: Intent.State(state), done: progress.done)
                if let part = prepared.part { try copier.archive.note(part) }
                copier.options.reached(.partWritten)
            }
            guard EntryStatus(descriptor: input.number)?.stamp == before.stamp else {
                await copier.discard(prepared, in: folder)
                return .skipped("\(here.display(seen.path)) changed while it was copied; the next run copies it")
            }
            prepared.reused = result.reused
            prepared.digest = result.digest
            prepared.written = ArchiveEntry.SideState(
                written: result.status, metadata: Metadata(of: result.status, owners: there.setsOwners))
            prepared.lost = result.lost
            prepared.source.attributes = attributes.map(AttributePrint.init)
            prepared.written.attributes = prepared.source.attributes
            if !result.lost.isEmpty {
                prepared.written.attributes = try await folder.attributes(of: prepared.temporary)
                    .map(AttributePrint.init)
            }
            copier.options.reached(.copied)
            return .prepared(prepared)
        } catch {
            // A large file stays as far as it is on the disk: the next run goes on there. Not if it fills the disk.
            if prepared.part == nil || FileCopier.isFull(error) { await copier.discard(prepared, in: folder) }
            throw error
        }
    }

    // MARK: From the other machine

    func receive(
        _ action: SyncAction, _ seen: Observation, in folder: LocalFolder, from there: any DistantReplica,
        _ isAlone: Bool
    ) async throws -> FileCopier.Outcome {
        let name = Array(action.path.name)
        let state = ArchiveEntry.SideState(seen, at: copier.options.now())
        let earlier = copier.part(of: action, state)?.done ?? 0
        guard folder.hasRoom(for: seen.stamp.size.subtractingClamped(earlier)) else { return copier.noRoom(action) }
        let (temporary, output, part) = try copier.open(action, state, in: folder)
        let start = part?.done ?? 0
        var prepared = PreparedEntry(
            action: action, temporary: temporary, isDurable: isAlone, written: state,
            source: state, bytes: seen.stamp.size, resumed: start, part: part)
        var order = ReceiveOrder(source: seen, start: start)
        if start == 0, let old = action.old.flatMap(former), let file = folder.openFile(name, writing: false) {
            let descriptor = OpenDescriptor(owning: file)
            if let status = EntryStatus(descriptor: file), old.isSame(as: status) { order.former = descriptor }
        }
        do {
            let result = try await there.receive(order, into: output) { done in try copier.note(&prepared, output, done)
            }
            var source = seen
            source.stamp = result.stamp
            prepared.source = ArchiveEntry.SideState(source, at: result.time)
            prepared.reused = result.reused
            prepared.digest = result.digest
            let owner = copier.replicas[action.side].setsOwners
            let code = LocalFolder.setMetadata(
                output.number, action.metadata, owner: owner, attributes: result.attributes ?? [:],
                lost: &prepared.lost)
            guard code == 0 else { throw folder.failure("set the metadata of", name, code) }
            guard let status = EntryStatus(descriptor: output.number) else { throw folder.failure("stat", temporary) }
            prepared.written = ArchiveEntry.SideState(
                written: status, metadata: Metadata(of: status, owners: owner))
            prepared.noteAttributes(result.attributes, of: output.number)
            if isAlone { try await copier.synchronize(output, of: action) }
            copier.options.reached(.copied)
            return .prepared(prepared)
        } catch let failure as FileSystemFailure where failure.code == ESTALE {
            await copier.discard(prepared, in: folder)
            return .skipped("\(there.display(seen.path)) changed while it was copied; the next run copies it")
        } catch {
            if prepared.part == nil || FileCopier.isFull(error) { await copier.discard(prepared, in: folder) }
            throw error
        }
    }

    private func former(_ old: Observation) -> Observation? {
        old.kind == .regular && old.stamp.size >= Self.smallestFormer ? old : nil
    }
}

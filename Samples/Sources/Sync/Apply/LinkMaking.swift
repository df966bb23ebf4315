internal import Glibc
internal import TreeScan

/// The steps that make names of files that are there: under temporary names first, as with contents.
struct LinkMaking {
    /// The errors of link(2) that say that this file can have no such name, or not one more.
    private static let refusals = [EMLINK, EXDEV, EPERM, ENOTSUP, ENOSYS, EACCES]

    let ledger: StepLedger
    let writing: FileWriting

    func run(_ actions: [SyncAction], _ breathe: () async throws -> Void) async throws {
        var prepared: [PreparedEntry] = []
        do {
            for action in actions {
                try await breathe()
                guard case .link(let target, let orCopies) = action.work else { continue }
                guard !ledger.isBlocked(action) else {
                    if orCopies, ledger.hasFailed(target) {
                        ledger.skip(action, "\(target.display), which is the same file, is not in step")
                    }
                    continue
                }
                try await ledger.attempt(action) {
                    if let entry = try await prepare(action, target, orCopies) { prepared.append(entry) }
                }
            }
        } catch {
            for entry in prepared {
                try? await ledger.folder(of: entry.action.path, on: entry.action.side).discard(entry.temporary)
            }
            throw error
        }
        try await writing.publish(prepared)
    }

    /// Makes the temporary name, or a file of its own if that cannot be done.
    private func prepare(
        _ action: SyncAction, _ target: RelativePath, _ orCopies: Bool
    ) async throws -> PreparedEntry? {
        let replica = ledger.replicas[action.side]
        let folder = try await ledger.folder(of: action.path, on: action.side)
        let holder = try await replica.folder(target.parent)
        let source = action.source
        guard FileCopier.isAsSeen(action, try await folder.status(Array(action.path.name))),
            let file = try await holder.status(Array(target.name)), file.kind == .regular,
            file.stamp.size == source?.stamp.size
        else {
            ledger.skip(action, "it changed during the run; the next run looks again")
            return nil
        }
        let temporary = replica.temporaryName()
        do {
            try await folder.makeName(temporary, of: Array(target.name), in: holder)
        } catch let failure as FileSystemFailure where Self.refusals.contains(failure.code) {
            let reason =
                "it cannot be one file with \(target.display), as on \(action.side.other.rawValue): "
                + SystemError.text(failure.code)
            guard orCopies else {
                ledger.skip(action, reason)
                return nil
            }
            return try await copy(action, in: folder, reason)
        }
        ledger.options.reached(.linked)
        guard let status = try await folder.status(temporary), status.stamp.inode == file.stamp.inode else {
            await folder.discard(temporary)
            ledger.skip(action, "it changed during the run; the next run looks again")
            return nil
        }
        var state = ArchiveEntry.SideState(
            written: status, metadata: Metadata(of: status, owners: replica.setsOwners))
        state.attributes = try await folder.attributes(of: temporary).map(AttributePrint.init)
        return PreparedEntry(
            action: action, temporary: temporary, written: state,
            source: source.map { ArchiveEntry.SideState($0, at: 0) } ?? state)
    }

    private func copy(
        _ action: SyncAction, in folder: any ReplicaFolder, _ reason: String
    ) async throws -> PreparedEntry? {
        var action = action
        action.work = .put
        switch try await writing.copier.prepare(action, in: folder, isAlone: false) {
        case .prepared(let entry):
            ledger.report.skipped.append("\(ledger.replicas[action.side].display(action.path)): \(reason)")
            return entry
        case .skipped(let text):
            ledger.noteFailure(action, text)
            return nil
        }
    }

    /// Notes the new change times of files of which a run has changed another name. The next run would read them all.
    func settle(_ paths: Set<RelativePath>) async throws {
        guard !paths.isEmpty else { return }
        for path in paths.sorted() {
            guard let entry = try ledger.archive.entry(path), entry.kind == .regular else { continue }
            var now = entry
            for side in Side.allCases where !entry.sides[side].isRacy {
                let state = entry.sides[side]
                let folder = try await ledger.replicas[side].folderIfThere(path.parent)
                guard let stamp = try? await folder?.status(Array(path.name))?.stamp, stamp.inode == state.inode,
                    stamp.size == state.size, stamp.modified == state.metadata.modified
                else { continue }
                now.sides[side].changed = stamp.changed
            }
            if now != entry { ledger.record(.write(now)) }
        }
        try await ledger.commit()
    }
}

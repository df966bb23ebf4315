internal import Glibc
internal import TreeScan

/// The steps that change names and metadata, and write no content.
struct NameChanges {
    let ledger: StepLedger

    func run(_ actions: [SyncAction], _ breathe: () async throws -> Void) async throws {
        for action in actions {
            try await breathe()
            guard !ledger.isBlocked(action) else { continue }
            try await ledger.attempt(action) { try await change(action) }
        }
    }

    private func change(_ action: SyncAction) async throws {
        let owner = ledger.replicas[action.side].setsOwners
        let name = Array(action.path.name)
        let folder = try await ledger.folder(of: action.path, on: action.side)
        guard let status = try await folder.status(name) else { throw folder.failure("find", name, ENOENT) }
        if let old = action.old, !old.isSame(as: status) {
            return ledger.skip(action, "it changed during the run; the next run looks again")
        }
        switch action.work {
        case .moveAside(let other):
            ledger.noteNames(in: folder, on: action.side)
            try await folder.rename(name, to: Array(other.name), in: folder)
            ledger.options.reached(.movedAside)
        case .rename(let new):
            let target = try await ledger.folder(of: new, on: action.side)
            for changed in [folder, target] { ledger.noteNames(in: changed, on: action.side) }
            try await folder.rename(name, to: Array(new.name), in: target)
            ledger.noteChanges(on: action.side) { $0.noteMetadata(of: new, kind: status.kind) }
            try await target.setMetadata(Array(new.name), action.metadata, kind: status.kind, owner: owner)
            ledger.options.reached(.renamed)
            ledger.record(.remove(action.path))
            ledger.report.renamed += 1
            try await noteState(action, Array(new.name), in: target)
        case .describe:
            ledger.noteChanges(on: action.side) { $0.noteMetadata(of: action.path, kind: status.kind) }
            try await folder.setMetadata(name, action.metadata, kind: status.kind, owner: owner)
            ledger.options.reached(.described)
            ledger.report.described += 1
            try await noteState(action, name, in: folder)
        case .put, .delete, .makeFolder: break
        }
    }

    private func noteState(_ action: SyncAction, _ name: [UInt8], in folder: any ReplicaFolder) async throws {
        guard let status = try await folder.status(name) else { return }
        let metadata = Metadata(of: status, owners: ledger.replicas[action.side].setsOwners)
        let entry = action.source ?? action.old
        ledger.finish(
            action, kind: entry?.kind, target: entry?.target ?? [],
            now: ArchiveEntry.SideState(written: status, metadata: metadata))
    }
}

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
        if let old = action.old, !old.isSame(as: status), !isDone(action, old, status) {
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
            // A file that was put under the old name meanwhile must not get the times of the other side's.
            guard let renamed = try await target.status(Array(new.name)), Self.isSame(renamed, status) else {
                return ledger.skip(action, "it changed at the last moment, and has the new name; the next run decides")
            }
            ledger.noteChanges(on: action.side) { $0.noteMetadata(of: new, kind: status.kind) }
            try await target.setMetadata(Array(new.name), action.metadata, kind: status.kind, owner: owner)
            ledger.options.reached(.renamed)
            ledger.record(.remove(action.path))
            ledger.report.renamed += 1
            try await noteState(action, Array(new.name), in: target)
        case .setAttributes:
            ledger.noteChanges(on: action.side) { $0.noteMetadata(of: action.path, kind: status.kind) }
            try await setAttributes(name, action, in: folder)
            try await noteState(action, name, in: folder)
        case .describe:
            ledger.noteChanges(on: action.side) { $0.noteMetadata(of: action.path, kind: status.kind) }
            // Before the mode, which has a part of an access list.
            try await setAttributes(name, action, in: folder)
            try await folder.setMetadata(name, action.metadata, kind: status.kind, owner: owner)
            ledger.options.reached(.described)
            ledger.report.described += 1
            try await noteState(action, name, in: folder)
        case .put, .link, .delete, .makeFolder: break
        }
    }

    /// Whether a step on another name of the same file has done this one already.
    private func isDone(_ action: SyncAction, _ old: Observation, _ status: EntryStatus) -> Bool {
        switch action.work {
        case .describe, .rename: break
        default: return false
        }
        guard old.links > 1, status.stamp.inode == old.stamp.inode else { return false }
        return status.stamp.size == old.stamp.size && status.stamp.modified == action.metadata.modified
    }

    /// Whether two looks found the same entry with the same content, as far as a look tells.
    private static func isSame(_ left: EntryStatus, _ right: EntryStatus) -> Bool {
        left.kind == right.kind && left.stamp.inode == right.stamp.inode && left.stamp.size == right.stamp.size
            && left.stamp.modified == right.stamp.modified
    }

    /// Gives an entry attributes of the other side.
    private func setAttributes(_ name: [UInt8], _ action: SyncAction, in folder: any ReplicaFolder) async throws {
        guard !action.attributes.isEmpty else { return }
        let across = try await ledger.replicas[action.side.other].folder(action.path.parent)
        let values = try await across.attributes(of: name) ?? [:]
        let wanted = values.filter { action.attributes.copied.contains($0.key) }
        let lost = try await folder.changeAttributes(
            of: name, setting: wanted, removing: Array(action.attributes.removed))
        ledger.noteLost(lost, of: action)
    }

    private func noteState(_ action: SyncAction, _ name: [UInt8], in folder: any ReplicaFolder) async throws {
        guard let status = try await folder.status(name) else { return }
        let metadata = Metadata(of: status, owners: ledger.replicas[action.side].setsOwners)
        let entry = action.source ?? action.old
        var state = ArchiveEntry.SideState(written: status, metadata: metadata)
        if case .rename = action.work, status.kind == .regular {
            state.attributes = try await folder.attributes(of: name).map(AttributePrint.init)
        } else if !action.attributes.isEmpty {
            state.attributes = try await folder.attributes(of: name).map(AttributePrint.init)
        }
        ledger.finish(action, kind: entry?.kind, target: entry?.target ?? [], now: state)
    }
}

internal import Glibc
internal import TreeScan

/// The steps that remove entries. Each first gets a temporary name, so that a last look decides about what is removed.
struct Removals {
    private typealias Step = (action: SyncAction, folder: any ReplicaFolder, temporary: [UInt8])

    let ledger: StepLedger

    func run(_ actions: [SyncAction], _ breathe: () async throws -> Void) async throws {
        var steps: [Step] = []
        for action in actions {
            try await breathe()
            guard !ledger.isBlocked(action) else { continue }
            try await ledger.attempt(action) {
                let folder = try await ledger.folder(of: action.path, on: action.side)
                guard let old = action.old, let status = try await folder.status(Array(action.path.name)),
                    old.isSame(as: status)
                else { return ledger.skip(action, "it changed during the run, and stays; the next run looks again") }
                steps.append((action, folder, ledger.replicas[action.side].temporaryName()))
            }
        }
        let numbers = try await ledger.begin(
            steps.filter { $0.action.old?.kind != .directory }.map { step in
                var intent = Intent(work: .delete, side: step.action.side, path: step.action.path.bytes)
                intent.temporary = step.temporary
                intent.setOld(step.action.old)
                return intent
            })
        var (rest, ended) = (numbers[...], [Int64]())
        for step in steps {
            var isLeft = false
            try await ledger.attempt(step.action) { try await remove(step, leaving: &isLeft) }
            guard step.action.old?.kind != .directory, let number = rest.popFirst() else { continue }
            // The next run finds the entry that is left by its intent. Without one it would be a leftover.
            if !isLeft { ended.append(number) }
        }
        ledger.end(intents: ended)
    }

    /// Removes an entry.
    ///
    /// - Parameter isLeft: Set if a failure leaves it under the temporary name.
    private func remove(_ step: Step, leaving isLeft: inout Bool) async throws {
        let (action, folder, temporary) = step
        let name = Array(action.path.name)
        ledger.noteNames(in: folder, on: action.side)
        if action.old?.kind == .directory {
            do {
                try await folder.remove(name, isFolder: true)
            } catch let error as FileSystemFailure {
                guard error.code == ENOTEMPTY || error.code == EEXIST else { throw error }
                return ledger.skip(action, "it holds entries that stay")
            }
        } else {
            try await folder.rename(name, to: temporary, in: folder)
            isLeft = true
            ledger.options.reached(.unnamed)
            guard let status = try await folder.status(temporary), action.old?.isSame(as: status) == true else {
                let kept = try await Rescue.restore(
                    temporary, of: action.path, on: action.side, in: folder, date: ledger.options.date)
                isLeft = false
                return ledger.skip(action, "it changed at the last moment, and stays as \(kept)")
            }
            do {
                try await ledger.dismiss(temporary, of: action.path, on: action.side, in: folder)
            } catch let failure as FileSystemFailure {
                let kept = try await Rescue.restore(
                    temporary, of: action.path, on: action.side, in: folder, date: ledger.options.date)
                isLeft = false
                return ledger.skip(action, "it stays as \(kept): \(failure)")
            }
        }
        isLeft = false
        ledger.options.reached(.deleted)
        ledger.finish(action, kind: nil, target: [], now: nil)
        ledger.report.removed += 1
    }
}

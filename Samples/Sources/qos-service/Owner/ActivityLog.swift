internal import Backup
internal import Foundation
internal import Logging
internal import QoSCore
internal import QoSWorkloads
internal import SampleCommand
internal import Sync
internal import Synchronization

/// What the service did for its owner: saved, synced, checked, restored, failed.
///
/// It is kept in one file beside the index, so the page says the last state again after a restart. A run that changed
/// nothing only moves the time of the last one. A file that cannot be read or written costs the memory of the past, and
/// nothing else.
final class ActivityLog: WorkloadObserver {
    /// One thing that was done.
    struct Entry: Codable, Sendable, Equatable {
        /// Seconds since 1970, at the end.
        var time: Double
        /// The name of the workload.
        var kind: String
        var hasFailed = false
        /// Seconds that it took.
        var seconds: Double
        /// What happened, for people.
        var text: String
        /// Names of files with what kept them from being saved or synced, at most a hundred.
        var details: [String] = []
        /// The files that were saved, synced or removed, at most a hundred, in the order of their times.
        var files: [FileEvent]?
    }

    /// What happened to a file.
    struct FileEvent: Codable, Sendable, Equatable {
        /// Seconds since 1970.
        var time: Double
        /// What was done, for people.
        var what: String
        /// The name below the folder of the backup or the sync, safe to print.
        var name: String
    }

    /// What is kept.
    struct Memory: Codable, Sendable, Equatable {
        /// The last first.
        var entries: [Entry] = []
        /// The last success of each kind of work, in seconds since 1970.
        var successes: [String: Double] = [:]
        /// The last failure of each kind of work that no success followed.
        var failures: [String: String] = [:]
        /// What the last sync left as it was, for people.
        var skipped: [String] = []
        var skippedCount = 0

        /// Adds an entry.
        ///
        /// - Parameter isEvent: Whether people want to read of it.
        mutating func add(_ entry: Entry, isEvent: Bool) {
            if entry.hasFailed {
                failures[entry.kind] = entry.text
            } else {
                failures[entry.kind] = nil
                successes[entry.kind] = entry.time
            }
            // A failure that repeats itself is one entry, with its last time.
            if entry.hasFailed, let first = entries.first, first.kind == entry.kind, first.text == entry.text {
                entries[0] = entry
            } else if isEvent {
                entries.insert(entry, at: 0)
                if entries.count > ActivityLog.limit { entries.removeLast() }
            }
        }
    }

    static let limit = 300
    private static let detailLimit = 100
    /// The time for which an uneventful run need not be on the disk.
    private static let patience = Duration.seconds(60)

    private struct State {
        var memory: Memory
        var written: ContinuousClock.Instant?
        var unwatched: Set<String> = []
        var syncRuns = 0
        var conflicts = 0
        /// What each restore under way writes, for people.
        var restores: [WorkloadItemID: String] = [:]
        /// The restores that ended before somebody said what they write.
        var endedRestores: Set<WorkloadItemID> = []
    }

    private let path: String
    private let log: Logger
    private let state: Mutex<State>

    /// Reads what earlier starts left.
    ///
    /// - Parameter directory: The folder of the service's files.
    init(directory: String, log: Logger) {
        path = directory + "/activity.json"
        self.log = log
        let data = FileManager.default.contents(atPath: path)
        state = Mutex(State(memory: data.flatMap { try? JSONDecoder().decode(Memory.self, from: $0) } ?? Memory()))
    }

    /// What is kept, now.
    var memory: Memory { state.withLock { $0.memory } }
    /// Folders whose changes the kernel cannot tell, because its watches are used up, or they cannot be watched.
    var unwatched: [String] { state.withLock { $0.unwatched.sorted() } }
    /// The conflicts that syncs met since the start.
    var conflictCount: Int { state.withLock { $0.conflicts } }

    func observe(_ event: WorkloadHostEvent) {
        switch event {
        case .attemptEnded(let lease, let name, let result, _, let time): note(lease.item, name, result, after: time)
        case .folderNotWatched(let folder, let reason, _):
            let isNew = state.withLock { $0.unwatched.insert(folder).inserted }
            if isNew {
                log.warning("a folder cannot be watched", metadata: ["folder": "\(folder)", "reason": "\(reason)"])
            }
        default: break
        }
    }

    /// Notes a sync that came to its end.
    func note(_ report: SyncReport, after time: Duration) {
        let counts = [
            (report.copied, "file copied", "files copied"), (report.renamed, "renamed", "renamed"),
            (report.linked ?? 0, "linked", "linked"), (report.described, "with new attributes", "with new attributes"),
            (report.removed, "removed", "removed"), (report.folders, "folder made", "folders made"),
            (report.conflicts.count, "conflict", "conflicts"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
        // What stays as it is stays so in each run.
        let isEvent = !counts.isEmpty || memory.skipped != Self.cut(report.skipped)
        var text = counts.isEmpty ? "In step" : "Synced: " + counts.joined(separator: ", ")
        if !report.skipped.isEmpty {
            text += "; left as it is: \(counted(report.skipped.count, "entry", plural: "entries"))"
        }
        text += "."
        state.withLock { state in
            state.memory.skipped = Self.cut(report.skipped)
            state.memory.skippedCount = report.skipped.count
            state.conflicts += report.conflicts.count
        }
        for conflict in report.conflicts { log.warning("sync conflict", metadata: ["what": "\(conflict)"]) }
        if !report.skipped.isEmpty, isEvent {
            log.warning(
                "the sync left entries as they are",
                metadata: ["count": "\(report.skipped.count)", "first": "\(report.skipped[0])"])
        }
        add(
            Entry(
                time: Date().timeIntervalSince1970, kind: SyncWorkload.name.rawValue, seconds: time / .seconds(1),
                text: text, details: Self.cut(report.conflicts + report.skipped + (report.notes ?? [])),
                files: Self.events(report.changes ?? [])),
            isEvent: isEvent)
    }

    /// Notes a backup that came to its end.
    func note(_ report: BackupReport) {
        let snapshot = report.snapshot
        var text = "Saved \(snapshot.folder): \(counted(snapshot.files, "file")), \(report.unchanged) as before"
        if !report.problems.isEmpty {
            text += "; not saved: \(counted(report.problems.count, "entry", plural: "entries"))"
        }
        add(
            Entry(
                time: Date().timeIntervalSince1970, kind: BackupWorkload.name.rawValue,
                seconds: max(0, Date().timeIntervalSince1970 - Double(snapshot.time) / 1e9), text: text + ".",
                details: Self.cut(report.problems),
                files: report.saved.prefix(Self.detailLimit).map { file in
                    FileEvent(
                        time: (Double(file.time) / 1e6).rounded() / 1000, what: "saved", name: Self.cut(file.path))
                }),
            isEvent: true)
    }

    /// Notes what a restore that was just submitted writes. It may have ended already.
    func note(restore item: WorkloadItemID, of text: String) {
        state.withLock { state in
            guard state.endedRestores.remove(item) != nil else {
                state.restores[item] = text
                return
            }
            let isNameless: (Entry) -> Bool = { $0.kind == RestoreWorkload.name.rawValue && $0.text == "Restored." }
            if let index = state.memory.entries.firstIndex(where: isNameless) {
                state.memory.entries[index].text = "Restored \(text)."
            }
        }
    }

    private func note(
        _ item: WorkloadItemID, _ name: WorkloadName, _ result: AttemptResult, after time: Duration
    ) {
        let texts = ["check": "Checked the repository.", "prune": "Removed old snapshots.", "restore": "Restored."]
        var entry = Entry(
            time: Date().timeIntervalSince1970, kind: name.rawValue, seconds: time / .seconds(1), text: "")
        switch result {
        case .finished:
            // Backup and sync say more themselves.
            guard name != BackupWorkload.name, name != SyncWorkload.name else { return }
            entry.text = texts[name.rawValue] ?? "Done."
            if name == RestoreWorkload.name {
                let text = state.withLock { state in
                    let text = state.restores.removeValue(forKey: item)
                    if text == nil { state.endedRestores.insert(item) }
                    return text
                }
                if let text { entry.text = "Restored \(text)." }
            }
            add(entry, isEvent: texts[name.rawValue] != nil)
        case .failed(let error, _):
            entry.hasFailed = true
            entry.text = error
            add(entry, isEvent: true)
        case .deferred: break
        }
    }

    private static func cut(_ lines: [String]) -> [String] { lines.prefix(detailLimit).map(cut) }

    private static func cut(_ line: String) -> String { String(line.prefix(500)) }

    private static func events(_ changes: [SyncChange]) -> [FileEvent] {
        changes.prefix(detailLimit).map { change in
            let what =
                switch change.work {
                case .copied: "copied to \(change.side.rawValue)"
                case .linked: "linked on \(change.side.rawValue)"
                case .made: "folder made on \(change.side.rawValue)"
                case .renamed: "renamed on \(change.side.rawValue)"
                case .described: "attributes set on \(change.side.rawValue)"
                case .removed: "removed on \(change.side.rawValue)"
                }
            return FileEvent(time: change.time, what: what, name: cut(change.path))
        }
    }

    private func add(_ entry: Entry, isEvent: Bool) {
        let memory: Memory? = state.withLock { state in
            state.memory.add(entry, isEvent: isEvent)
            if !isEvent, let written = state.written, .now - written < Self.patience { return nil }
            state.written = .now
            return state.memory
        }
        guard let memory, let data = try? JSONEncoder().encode(memory) else { return }
        try? data.write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}

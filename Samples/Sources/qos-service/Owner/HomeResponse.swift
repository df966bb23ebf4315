internal import Backup
internal import Indexing
internal import QoSWorkloads
internal import TreeScan

/// The answer of `/home`: what an owner wants to know at a glance. Keys are written in snake case.
struct HomeResponse: Encodable {
    /// A kind of work, for people.
    struct Work: Encodable {
        /// Seconds since 1970; nil before the first success.
        let last: Double?
        /// The last failure that no success followed; nil for clients without the token, and if there is none.
        let failure: String?
        let hasFailed: Bool
    }

    let mayAct: Bool
    /// The name of the folder, without the folders above it.
    let folder: String
    /// The whole path; nil for clients without the token.
    let path: String?
    /// Seconds since 1970 of the last snapshot; nil if there is none.
    let saved: Double?
    /// The entries that this snapshot lacks.
    let savedProblems: Int
    /// Nil if the service makes no backups.
    let backup: Work?
    let check: Work?
    /// Nil if the service syncs nothing.
    let sync: Work?
    let conflicts: Int
    /// The entries that the last sync left as they are.
    let skipped: Int
    /// Files that the index could not read, or only in part.
    let notRead: Int
    let pending: Int
    /// The kinds of work that somebody paused.
    let paused: [String]
    /// The kinds of work that wait until the machine has time, or a condition holds.
    let waiting: [String]
    /// The number of folders whose changes are found by looks only.
    let unwatched: Int

    init(
        _ status: IndexStatus, _ activity: ActivityLog, snapshots: [Snapshot], conflicts: Int,
        settings: ServiceSettings,
        snapshot: WorkloadSnapshot?, isTrusted: Bool
    ) {
        let memory = activity.memory
        func work(_ name: WorkloadName) -> Work {
            let failure = memory.failures[name.rawValue]
            return Work(
                last: memory.successes[name.rawValue], failure: isTrusted ? failure : nil, hasFailed: failure != nil)
        }
        mayAct = isTrusted
        folder = status.folder.split(separator: "/").last.map(String.init) ?? "/"
        path = isTrusted ? status.folder : nil
        let last = snapshots.last { settings.backup?.folders.contains($0.folder) == true }
        saved = last.map { (Double($0.time) / 1e6).rounded() / 1000 }
        savedProblems = last?.problems ?? 0
        backup = settings.backup.map { _ in work(BackupWorkload.name) }
        check = settings.backup.map { _ in work(CheckWorkload.name) }
        sync = settings.sync.map { _ in work("sync") }
        self.conflicts = conflicts
        skipped = settings.sync == nil ? 0 : memory.skippedCount
        notRead = status.counts.unread + status.counts.truncated + status.unreadable
        pending = status.counts.pending
        let items = snapshot?.items.filter { !$0.record.state.isEnded } ?? []
        paused = (snapshot?.pauses.keys.map(\.rawValue) ?? []).sorted()
        waiting = Set(items.filter(\.isDeferred).map(\.record.request.name.rawValue)).subtracting(paused).sorted()
        unwatched = activity.unwatched.count
    }
}

/// The answer of `/activity`. Keys are written in snake case.
struct ActivityResponse: Encodable {
    /// The last first.
    let entries: [ActivityLog.Entry]
    /// What the last sync left as it was.
    let skipped: [String]
    /// The folders whose changes are found by looks only.
    let unwatched: [String]
}

/// The answer of `/conflicts`. Keys are written in snake case.
struct ConflictsResponse: Encodable {
    struct Item: Encodable {
        /// As the parameter `path` has it.
        let name: String
        /// The version that has the name, for `/files`; nil if the service's folder has none of them.
        let current: String?
        /// The version with a name of its own, for people.
        let copy: String
        /// The version that has the name, for people.
        let original: String
        let side: String
        let date: String
        /// As the parameter of the same name has it: a choice about other versions than these is refused.
        let seen: String
    }

    let folder: String
    let conflicts: [Item]
}

/// The answer of `/conflicts/text`. Keys are written in snake case.
struct ConflictTextResponse: Encodable {
    let current: String?
    let copy: String?
    let isCut: Bool
}

/// The answer of `/snapshots/files`. Keys are written in snake case.
struct SnapshotFolderResponse: Encodable {
    struct Entry: Encodable {
        /// For people.
        let name: String
        /// As the parameter of the same name has it.
        let path: String
        let kind: String
        let size: Int64
        /// Seconds since 1970.
        let modified: Double

        init(_ node: TreeNode, at place: RelativePath) {
            name = RelativePath(bytes: node.name).display
            path = PathText.encoded(place)
            switch node.content {
            case .file(let content): (kind, size) = ("regular", content.size)
            case .folder: (kind, size) = ("directory", 0)
            case .link: (kind, size) = ("symbolic-link", 0)
            case .pipe: (kind, size) = ("fifo", 0)
            }
            modified = (Double(node.modified) / 1e6).rounded() / 1000
        }
    }

    let folder: String
    let entries: [Entry]
    /// Whether these are all.
    let complete: Bool
}

/// The answer of `/snapshots/changes`. Keys are written in snake case.
struct SnapshotChangesResponse: Encodable {
    struct Item: Encodable {
        let path: String
        let kind: SnapshotReader.Change.Kind
        let isFolder: Bool
        let size: Int64
    }

    let changes: [Item]
    let complete: Bool
}

/// The answer of `/versions`. Keys are written in snake case.
struct VersionsResponse: Encodable {
    struct Version: Encodable {
        /// As the parameter of the same name has it.
        let snapshot: String
        /// As the parameter of the same name has it: the path below the snapshot's folder.
        let path: String
        /// Seconds since 1970.
        let saved: Double
        let modified: Double
        let size: Int64
        /// The number of snapshots in a row that have this content.
        var snapshots: Int
    }

    /// The last first, each content that follows another one once.
    let versions: [Version]
    /// Whether no further snapshot was left to look into.
    let complete: Bool
}

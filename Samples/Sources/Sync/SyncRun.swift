internal import Foundation
internal import Glibc
internal import TreeScan

/// One pair of folders, held by this process alone until the end of this object. One task at a time.
///
/// Each run looks at both sides, decides by what both had at the end of the last run, and does it. A run that was
/// killed leaves nothing to repair: each file is whole, the old one or the new one, and the next run goes on.
public final class SyncRun {
    private let options: SyncOptions
    private let archive: SyncArchive
    private let replicas: Pair<any Replica>
    private let paths: Pair<String>

    /// The number of steps that the current run has done.
    public var steps: Int { applier?.done ?? 0 }
    /// The number of steps of the current run's plan.
    public var total: Int { applier?.total ?? 0 }
    private var applier: SyncApplier?

    /// The folders of both sides that the last run saw, as absolute paths. For watches.
    public private(set) var folders: [String] = []

    /// Opens both folders and the archive.
    ///
    /// - Parameters:
    ///   - a: The path of A. Only this path itself may be a link.
    ///   - b: The path of B.
    /// - Throws: `SyncError`, or `TreeScanError` if a folder is missing or cannot be read.
    public convenience init(a: String, b: String, options: SyncOptions = SyncOptions()) throws {
        let (a, b) = (try Self.realPath(a), try Self.realPath(b))
        for (one, other) in [(a, b), (b, a)] where RootFolder.contains(one, other) {
            throw SyncError.overlapping(a: a, b: b)
        }
        try self.init(a: a, place: b, options: options) {
            try LocalReplica(.b, path: b, pair: $0, on: Volumes(options.disk))
        }
    }

    /// Opens a folder of this machine and the archive, with any other side.
    ///
    /// - Parameters:
    ///   - place: The other folder, for people and for the name of the archive.
    ///   - other: Makes the other side from the name of the archive.
    package init(
        a: String, place: String, options: SyncOptions, other: (_ pair: String) throws -> any Replica
    ) throws {
        self.options = options
        paths = Pair(a: try Self.realPath(a), b: place)
        let directory = URL(
            fileURLWithPath: try options.archive
                ?? SyncArchive.defaultDirectory(ProcessInfo.processInfo.environment)
        ).standardizedFileURL.path
        let place = Self.resolved(directory)
        for folder in [paths.a, paths.b] where RootFolder.contains(folder, place) {
            throw SyncError.archiveInside(path: place, folder: folder)
        }
        try ExcludeRules.check(options.excludes.patterns, for: [paths.a, paths.b])
        if let versions = options.versions {
            let place = Self.resolved(URL(fileURLWithPath: versions).standardizedFileURL.path)
            for folder in [paths.a, paths.b] where RootFolder.contains(folder, place) {
                throw SyncError.versionsInside(path: place, folder: folder)
            }
        }
        archive = try SyncArchive(in: directory, a: paths.a, b: paths.b)
        replicas = Pair(
            a: try LocalReplica(.a, path: paths.a, pair: archive.name, on: Volumes(options.disk)),
            b: try other(archive.name))
        let archive = archive
        for side in Side.allCases {
            // Without the note the right stays after a kill, and nothing else is lost.
            (replicas[side] as? LocalReplica)?.setLoanNote { try? archive.noteLoan(on: side, $0, mode: $1) }
        }
    }

    /// Decides, and changes nothing.
    ///
    /// - Throws: `SyncError`, `TreeScanError`, `FileSystemFailure`, and `CancellationError`.
    public func preview() async throws -> SyncPreview {
        try await begin()
        let scans = try await scan(probing: false)
        let plan = try await plan(scans)
        return SyncPreview(plan, maximumDeletions: options.maximumDeletions)
    }

    /// Brings both sides in step.
    ///
    /// - Parameters:
    ///   - breathe: Called before each step. It may wait, and it may throw to end the run.
    /// - Returns: What was done, and what was left.
    /// - Throws: `SyncError`, `TreeScanError`, `FileSystemFailure`, `CancellationError`, and the errors of `breathe`.
    ///   What is done stays done, and the next run goes on.
    public func run(breathe: () async throws -> Void = {}) async throws -> SyncReport {
        let lock = try await RootLock.take(
            Side.allCases.compactMap { (replicas[$0] as? LocalReplica)?.root.path }, waiting: options.waits)
        defer { lock.release() }
        try await begin()
        try endLoans()
        let versions = options.versions.map { VersionStore(in: $0, at: options.now()) }
        var recovery = Recovery(archive: archive, replicas: replicas, date: options.date, versions: versions)
        try await recovery.run()
        options.reached(.recovered)
        var scans = try await scan(probing: true)
        options.reached(.scanned)
        for (action, _) in recovery.unfinished { scans[action.side].finish(action) }
        let parts = try await clean(&scans)
        let plan = try await plan(scans)
        options.reached(.planned)
        if let refusal = plan.refusal(maximumDeletions: options.maximumDeletions) { throw refusal }
        try await breathe()
        let times = Pair(a: scans.a.time, b: scans.b.time)
        let applier = SyncApplier(
            plan, archive: archive, replicas: replicas, times: times, parts: parts, unfinished: recovery.unfinished,
            versions: versions, options: options)
        self.applier = applier
        var report = try await applier.run(times: times, breathe: breathe)
        report.conflicts += recovery.conflicts
        report.kept = versions?.count
        let shortcomings = Side.allCases.compactMap { replicas[$0].shortcoming }
        if !shortcomings.isEmpty { report.notes = shortcomings + (report.notes ?? []) }
        try endLoans()
        try await noteIdentities()
        return report
    }

    // MARK: The sides

    /// Begins a run on both sides.
    ///
    /// Throws if a side is another folder than at the last run, as it is while its volume is not mounted.
    private func begin() async throws {
        let setsOwners = try await replicas.b.begin(settingOwners: LocalReplica.canSetOwners)
        _ = try await replicas.a.begin(settingOwners: setsOwners)
        for side in Side.allCases {
            try await replicas[side].checkIsCurrent()
            guard let known = try archive.inode(of: side) else { continue }
            // The device is left out: its number may be another one after a restart of the machine.
            guard known == "\(try await replicas[side].identity())" else {
                throw SyncError.otherFolder(side, path: paths[side], archive: archive.path)
            }
        }
    }

    /// Gives folders the modes back that a run that was killed had changed for the moment, before anybody takes them for
    /// a change of a person.
    private func endLoans() throws {
        let loans = try archive.loans()
        for (side, path, mode) in loans {
            try? (replicas[side] as? LocalReplica)?.localFolder(path).giveBack(mode: mode)
        }
        if !loans.isEmpty { try archive.forgetLoans() }
    }

    private func noteIdentities() async throws {
        for side in Side.allCases {
            let inode = "\(try await replicas[side].identity())"
            if try archive.inode(of: side) != inode {
                try archive.note(inode: inode, of: side)
            }
        }
    }

    /// Looks at both sides at the same time.
    private func scan(probing: Bool) async throws -> Pair<SideScan> {
        let (a, b, now, rules) = (replicas.a, replicas.b, options.now, options.excludes)
        async let first = a.scan(at: now(), probing: probing, leavingOut: rules)
        async let second = b.scan(at: now(), probing: probing, leavingOut: rules)
        let scans = try await Pair(a: first, b: second)
        var exclusions = Exclusions(rules)
        folders = Side.allCases.filter { replicas[$0] is LocalReplica }.flatMap { side in
            let below = scans[side].entries.filter { entry in
                entry.kind == .directory && !exclusions.contain(entry.path, isFolder: true)
            }
            return [paths[side]] + below.map { "\(paths[side])/\($0.path)" }
        }
        return scans
    }

    /// Removes the temporary files of earlier runs. Large files that are half written stay.
    private func clean(_ scans: inout Pair<SideScan>) async throws -> [PartialFile] {
        let parts = try archive.parts()
        var found: [PartialFile] = []
        for side in Side.allCases {
            // Names that were to become those of files: without them, these have another change time.
            var linked: Set<UInt64> = []
            for path in scans[side].leftovers {
                guard let folder = try await replicas[side].folderIfThere(path.parent) else {
                    continue
                }
                let part = parts.first { part in
                    part.side == side && part.temporary == Array(path.name)
                        && RelativePath(bytes: part.path).parent == path.parent
                }
                if let part {
                    found.append(part)
                    continue
                }
                if let status = try? await folder.status(Array(path.name)), status.links > 1 {
                    linked.insert(status.stamp.inode)
                }
                await folder.discard(Array(path.name))
            }
            for index in scans[side].entries.indices where linked.contains(scans[side].entries[index].stamp.inode) {
                let entry = scans[side].entries[index]
                guard let folder = try await replicas[side].folderIfThere(entry.path.parent),
                    let status = try? await folder.status(Array(entry.path.name)), entry.isSame(as: status)
                else { continue }
                scans[side].entries[index].stamp = status.stamp
                scans[side].entries[index].links = status.links
            }
        }
        for part in parts where !found.contains(where: { $0.temporary == part.temporary && $0.side == part.side }) {
            try archive.forget(part)
        }
        return found
    }

    private func plan(_ scans: Pair<SideScan>) async throws -> SyncPlan {
        let rows = try archive.entries()
        let includesOwners = replicas.a.setsOwners
        var planner = Planner(
            reconciler: Reconciler(mode: options.mode, policy: options.policy), date: options.date,
            archive: includesOwners ? rows : rows.map(\.withoutOwners), a: scans.a, b: scans.b,
            leavingOut: options.excludes)
        let comparison = FileComparison(a: replicas.a, b: replicas.b)
        let replicas = replicas
        var plan = try await planner.plan(
            ContentLook(
                isEqual: { try await comparison.isEqual($0, $1) },
                digest: { try await replicas[$1].digest(of: $0) },
                attributes: { try await replicas[$1].attributes(of: $0) }))
        plan.noteDigests { comparison.digests[$0] }
        return plan
    }

    // MARK: Paths

    private static func realPath(_ path: String) throws(TreeScanError) -> String {
        guard let real = RootFolder.realPath(path) else {
            throw errno == ENOENT ? .missing(path: path) : .failed(path: path, code: errno)
        }
        return real
    }

    /// The path without links, also if its end does not exist yet.
    private static func resolved(_ path: String) -> String {
        if let real = try? realPath(path) { return real }
        guard let slash = path.lastIndex(of: "/"), path != "/" else { return path }
        let above = String(path[..<slash])
        return resolved(above.isEmpty ? "/" : above) + path[slash...]
    }
}

extension SideScan {
    /// Takes a folder for one that has its metadata: it gets it at the end of the run.
    fileprivate mutating func finish(_ action: SyncAction) {
        guard let index = entries.firstIndex(where: { $0.path == action.path }) else { return }
        entries[index].metadata = action.metadata
    }
}

extension ArchiveEntry {
    /// The entry for a process that may not set owners.
    fileprivate var withoutOwners: ArchiveEntry {
        var entry = self
        for side in Side.allCases {
            entry.sides[side].metadata.owner = 0
            entry.sides[side].metadata.group = 0
        }
        return entry
    }
}

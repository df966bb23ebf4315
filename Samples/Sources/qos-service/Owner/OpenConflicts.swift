internal import CFileSystem
internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import QoSRuntime
internal import SafeFiles
internal import Sync
internal import Synchronization
internal import TreeScan

/// The open conflicts of the sync: the versions that have a name of their own, until somebody chooses.
///
/// The files themselves say what is open, so a choice by hand counts, too. They are looked for at the start and after
/// each sync that changed something, on a side that this machine has.
final class OpenConflicts: Sendable {
    /// The largest number of conflicts that are kept.
    private static let limit = 1000
    /// The bytes of a version that a comparison shows.
    private static let textLimit = 256 * 1024
    private static let noReplace: UInt32 = 1
    private static let exchange: UInt32 = 2
    private static let haveChanged = Refusal(
        status: .conflict, message: "The versions have changed since they were shown. Look at the conflicts again.")

    /// What a choice keeps under the name of the file.
    enum Choice: String, CaseIterable {
        /// The version that has the name. The other one is removed.
        case current
        /// The version of the conflict. It takes the place of the other one.
        case copy
        /// Both. The version of the conflict gets a name without the mark.
        case both
    }

    /// The folder that is looked at; nil without a sync.
    let folder: String?
    /// Whether the paths are those of the service's folder.
    let isServed: Bool
    private let found = Mutex<[ConflictCopy]>([])
    private let needed: AsyncStream<Void>
    private let need: AsyncStream<Void>.Continuation

    /// Makes a list.
    init(_ settings: SyncSettings?, served: String) {
        folder = settings.map { $0.folders.contains(served) ? served : $0.a }
        isServed = folder == served
        (needed, need) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        need.yield()
    }

    /// The open conflicts, by path.
    var conflicts: [ConflictCopy] { found.withLock { $0 } }

    /// Asks for a look, soon.
    func look() { need.yield() }

    /// Looks when asked to, until the task is cancelled.
    func run() async throws {
        for await _ in needed {
            let copies = scan()
            found.withLock { $0 = copies }
            // One look serves all changes of a moment.
            try await Task.sleep(for: .milliseconds(500), tolerance: .milliseconds(100))
        }
        try Task.checkCancellation()
    }

    private func scan() -> [ConflictCopy] {
        guard let folder, let root = try? RootFolder(folder),
            let scanner = try? TreeScanner(root: root, options: ScanOptions(excludedNames: []))
        else { return [] }
        var copies: [ConflictCopy] = []
        while copies.count < Self.limit, !Task.isCancelled, let event = scanner.next() {
            if case .file(let path, _) = event, let copy = ConflictCopy(path) { copies.append(copy) }
        }
        return copies.sorted { $0.path < $1.path }
    }

    /// Both versions of a conflict, for a comparison.
    struct Versions: Sendable {
        /// The text of a version; nil if there is none, or it is no text.
        var current: String?
        var copy: String?
        var isCut = false
    }

    /// Reads both versions. Blocks the thread.
    ///
    /// - Throws: `Refusal`, `TreeScanError`.
    func versions(of path: RelativePath) throws -> Versions {
        let (root, copy) = try open(path)
        var versions = Versions()
        for (place, target) in [(copy.original, \Versions.current), (copy.path, \Versions.copy)] {
            guard let bytes = Self.bytes(of: place, in: root) else { continue }
            if bytes.count > Self.textLimit { versions.isCut = true }
            if !bytes.prefix(8192).contains(0) {
                versions[keyPath: target] = String(decoding: bytes.prefix(Self.textLimit), as: UTF8.self)
            }
        }
        return versions
    }

    /// Returns the first bytes of a file; nil if it cannot be read.
    private static func bytes(of path: RelativePath, in root: RootFolder) -> [UInt8]? {
        do throws(FileSystemFailure) {
            return try root.open(path).read(limit: textLimit + 1)
        } catch {
            return nil
        }
    }

    /// The open conflicts, by path, each with a text that changes with its versions. Blocks the thread.
    func shown() -> [(copy: ConflictCopy, seen: String)] {
        let root = folder.flatMap { try? RootFolder($0) }
        func status(_ path: RelativePath) -> EntryStatus? {
            guard let descriptor = try? root?.descriptor(of: path, for: .status) else { return nil }
            let entry = OpenDescriptor(owning: descriptor)
            return EntryStatus(descriptor: entry.number)
        }
        return conflicts.map { ($0, Self.text(of: status($0.original), status($0.path))) }
    }

    /// Makes a choice. Blocks the thread.
    ///
    /// - Parameters:
    ///   - seen: The text of the versions that the choice is about, as ``shown()`` has it; nil for those of now.
    ///   - looked: Called between the look at the versions and the change. For tests.
    /// - Returns: What was done, for people.
    /// - Throws: `Refusal`, also if the versions are not those that were seen; `TreeScanError`, `FileSystemFailure`.
    func choose(
        _ choice: Choice, for path: RelativePath, seen: String? = nil, looked: () throws -> Void = {}
    ) throws -> String {
        let (root, copy) = try open(path)
        let folder = OpenDescriptor(owning: try root.descriptor(of: path.parent, for: .status))
        guard let version = EntryStatus(path.name, in: folder.number), version.kind == .regular else {
            throw Refusal(status: .notFound, message: "This version is gone. Look at the conflicts again.")
        }
        defer { look() }
        let original = EntryStatus(copy.original.name, in: folder.number)
        guard original != nil || errno == ENOENT else { throw failure(copy.original, "look at") }
        if let seen, choice != .both, seen != Self.text(of: original, version) { throw Self.haveChanged }
        try looked()
        switch choice {
        case .current:
            guard EntryStatus(copy.original.name, in: folder.number) != nil else {
                throw Refusal(
                    status: .conflict,
                    message: "\(copy.original.display) is gone, and this version is the last one. Look at the "
                        + "conflicts again.")
            }
            guard unsafe unlinkat(folder.number, path.name.terminated, 0) == 0 else { throw failure(path, "remove") }
            return "Kept \(copy.original.display) as it is. The other version is removed."
        case .copy:
            try replace(original, by: copy, in: folder.number)
            return "\(copy.original.display) is now the version of \(copy.date) from side \(copy.side.rawValue)."
        case .both:
            for number in 1...1000 {
                let name = Self.plainName(copy, number)
                let code =
                    unsafe linkat(folder.number, path.name.terminated, folder.number, name.terminated, 0) == 0
                    ? 0 : errno
                if code == EEXIST { continue }
                guard code == 0, unsafe unlinkat(folder.number, path.name.terminated, 0) == 0 else {
                    throw failure(path, "rename")
                }
                return "Kept both. The other version is now \(path.parent.appending(name).display)."
            }
            throw Refusal(status: .conflict, message: "No name is free for the other version. Rename it by hand.")
        }
    }

    /// Gives the version of a conflict the name, and removes the one that was seen there. Any other one stays.
    private func replace(_ original: EntryStatus?, by copy: ConflictCopy, in folder: Int32) throws {
        let (version, name) = (copy.path.name.terminated, copy.original.name.terminated)
        guard let original else {
            var code = unsafe renameat2(folder, version, folder, name, Self.noReplace) == 0 ? 0 : errno
            if code == EINVAL || code == ENOSYS {
                // The file system cannot refuse to replace. A hard link never does.
                code = unsafe linkat(folder, version, folder, name, 0) == 0 ? 0 : errno
                if code == 0 { code = unsafe unlinkat(folder, version, 0) == 0 ? 0 : errno }
            }
            if code == EEXIST { throw Self.haveChanged }
            guard code == 0 else { throw failure(copy.path, "rename", code) }
            return
        }
        guard original.kind != .directory else {
            throw Refusal(
                status: .conflict, message: "\(copy.original.display) is a folder. Keep both, or rename it by hand.")
        }
        let code = unsafe renameat2(folder, version, folder, name, Self.exchange) == 0 ? 0 : errno
        if code == EINVAL || code == ENOSYS {
            // The file system cannot exchange names. This look is the last one then.
            guard Self.isSame(EntryStatus(copy.original.name, in: folder), original) else { throw Self.haveChanged }
            guard unsafe renameat(folder, version, folder, name) == 0 else { throw failure(copy.path, "rename") }
            return
        }
        if code == ENOENT { throw Self.haveChanged }
        guard code == 0 else { throw failure(copy.path, "rename", code) }
        guard Self.isSame(EntryStatus(copy.path.name, in: folder), original) else {
            _ = unsafe renameat2(folder, version, folder, name, Self.exchange)
            throw Self.haveChanged
        }
        guard unsafe unlinkat(folder, version, 0) == 0 else { throw failure(copy.path, "remove") }
    }

    /// A text that changes with two versions of a file.
    private static func text(of original: EntryStatus?, _ version: EntryStatus?) -> String {
        [original, version].map { status in
            status.map { "\($0.stamp.inode)-\($0.stamp.size)-\($0.stamp.modified)" } ?? "none"
        }.joined(separator: ".")
    }

    private static func isSame(_ now: EntryStatus?, _ then: EntryStatus) -> Bool {
        now.map { text(of: $0, nil) } == text(of: then, nil) && now?.kind == then.kind
    }

    /// Returns a name without the mark of a conflict: `report (B 2026-01-31).txt`, then `report (B 2026-01-31, 2).txt`.
    static func plainName(_ copy: ConflictCopy, _ number: Int) -> [UInt8] {
        let name = Array(copy.original.name)
        let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? name.count
        let mark = " (\(copy.side.rawValue) \(copy.date)\(number == 1 ? "" : ", \(number)"))"
        return Array(name[..<dot].prefix(255 - mark.utf8.count - (name.count - dot))) + mark.utf8 + name[dot...]
    }

    private func open(_ path: RelativePath) throws -> (RootFolder, ConflictCopy) {
        guard let folder else {
            throw Refusal(
                status: .notFound, message: "This service syncs nothing. Start it with --sync-a and --sync-b.")
        }
        guard let copy = ConflictCopy(path) else {
            throw Refusal(
                status: .badRequest, message: "path names no version of a conflict. Choose one of /conflicts.")
        }
        return (try RootFolder(folder), copy)
    }

    private func failure(_ path: RelativePath, _ operation: String, _ code: Int32 = errno) -> FileSystemFailure {
        FileSystemFailure(path: path, operation: operation, code: code)
    }
}

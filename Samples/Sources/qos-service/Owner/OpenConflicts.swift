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

    /// Makes a choice. Blocks the thread.
    ///
    /// - Returns: What was done, for people.
    /// - Throws: `Refusal`, `TreeScanError`, `FileSystemFailure`.
    func choose(_ choice: Choice, for path: RelativePath) throws -> String {
        let (root, copy) = try open(path)
        let folder = OpenDescriptor(owning: try root.descriptor(of: path.parent, for: .status))
        var status = stat()
        guard unsafe fstatat(folder.number, path.name.terminated, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { throw Refusal(status: .notFound, message: "This version is gone. Look at the conflicts again.") }
        defer { look() }
        switch choice {
        case .current:
            guard unsafe unlinkat(folder.number, path.name.terminated, 0) == 0 else { throw failure(path, "remove") }
            return "Kept \(copy.original.display) as it is. The other version is removed."
        case .copy:
            let name = copy.original.name.terminated
            guard unsafe renameat(folder.number, path.name.terminated, folder.number, name) == 0 else {
                throw failure(path, "rename")
            }
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

    private func failure(_ path: RelativePath, _ operation: String) -> FileSystemFailure {
        FileSystemFailure(path: path, operation: operation, code: errno)
    }
}

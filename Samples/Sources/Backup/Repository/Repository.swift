internal import Foundation
internal import Glibc
public import SafeFiles

/// A repository whose key is open. Threads may share it.
public final class Repository: Sendable {
    /// The path of its folder, or its address.
    public var path: String { folder.path }

    let folder: RepositoryFolder
    let keys: RepositoryKeys
    /// The master key, for further passphrases.
    let master: [UInt8]
    /// The file whose passphrase opened the repository.
    let openedBy: String

    private init(folder: RepositoryFolder, master: [UInt8], openedBy: String) {
        self.folder = folder
        self.master = master
        self.openedBy = openedBy
        keys = RepositoryKeys(master: master)
    }

    /// Makes a repository in a new or empty folder.
    ///
    /// - Parameters:
    ///   - path: The folder, or an address such as `s3:https://host/bucket/prefix`. Its keys come from the environment.
    ///   - passphrase: The bytes that open it.
    ///   - cost: The work of one try of a passphrase.
    ///   - hook: Called before each call that changes a file. For tests.
    /// - Throws: `BackupError.notEmpty`, `.emptyPassphrase`, or the failure of the storage.
    public static func create(
        at path: String, passphrase: [UInt8], cost: PassphraseCost = .standard, before hook: StorageHook? = nil
    ) throws -> Repository {
        guard !passphrase.isEmpty else { throw BackupError.emptyPassphrase }
        let folder = try RepositoryFolder(path: path, hook: hook ?? { _ in 0 })
        // Only what a killed `init` leaves: without the header it is no repository yet.
        let known = Set(RepositoryFolder.Room.allCases.map(\.rawValue) + ["reserve"])
        guard try folder.storage.names(folder.path).allSatisfy({ known.contains($0) }),
            try folder.files(.snapshots).isEmpty
        else {
            throw BackupError.notEmpty(path: path)
        }
        try folder.storage.prepare()
        let master = RepositoryKeys.random(RepositoryKeys.masterLength)
        let header = try RepositoryHeader(master: master, passphrase: passphrase, cost: cost)
        try folder.storage.makeReserve(packs: 0)
        // Last: a folder with a header is a whole repository.
        try folder.write(try header.file(), to: folder.header, .header)
        return Repository(folder: folder, master: master, openedBy: folder.header)
    }

    /// Opens a repository.
    ///
    /// - Parameters:
    ///   - path: The folder, or an address such as `s3:https://host/bucket/prefix`. Its keys come from the environment.
    ///   - passphrase: The bytes that were given to `create`.
    ///   - hook: Called before each call that changes a file. For tests.
    /// - Throws: `BackupError.notARepository`, `.wrongPassphrase`, `.newerFormat`, `.damaged`.
    public static func open(at path: String, passphrase: [UInt8], before hook: StorageHook? = nil) throws -> Repository
    {
        let folder = try RepositoryFolder(path: path, hook: hook ?? { _ in 0 })
        guard try folder.size(folder.header) != nil else { throw BackupError.notARepository(path: path) }
        let header = try RepositoryHeader(file: try folder.read(folder.header), path: folder.header)
        if let master = try header.master(passphrase: passphrase) {
            return Repository(folder: folder, master: master, openedBy: folder.header)
        }
        for file in try folder.furtherKeys() {
            // A damaged further key opens nothing, and locks out nobody.
            guard let bytes = try? folder.read(file), let key = try? RepositoryHeader(file: bytes, path: file),
                let master = try key.master(passphrase: passphrase)
            else { continue }
            return Repository(folder: folder, master: master, openedBy: file)
        }
        throw BackupError.wrongPassphrase(path: path)
    }

    /// Whether a text is an address of storage behind a network, and not a path of this machine.
    public static func isRemote(_ path: String) -> Bool { S3Address.isMeant(by: path) }

    // MARK: Snapshots

    /// All snapshots that can be read, the oldest first, and the damage of the others.
    public func snapshots() throws -> (snapshots: [Snapshot], problems: [String]) {
        var snapshots: [Snapshot] = []
        var problems: [String] = []
        do { try requireSnapshots() } catch { problems.append("\(error)") }
        for name in try folder.files(.snapshots) {
            do {
                snapshots.append(try openSnapshot(name))
            } catch BackupError.failed(_, _, ENOENT) {
                continue
            } catch {
                problems.append("\(error)")
            }
        }
        return (snapshots.sorted { ($0.time, $0.shortName) < ($1.time, $1.shortName) }, problems)
    }

    /// Returns the snapshot whose name begins with `text`, or the last one for `latest`.
    ///
    /// - Parameters:
    ///   - filter: The snapshots of which `latest` is the last one. It must lead to one folder of one machine.
    ///   - now: The present, in nanoseconds since 1970. A snapshot of the future is the last one only if there is no
    ///     other.
    /// - Throws: `BackupError.unknownSnapshot`; `.damaged`; `.latestIsUnknown` if a damaged snapshot may be the last one;
    ///   `.latestIsAmbiguous`.
    public func snapshot(
        named text: String, of filter: SnapshotFilter = SnapshotFilter(), at now: Int64 = FileTime.now
    ) throws -> Snapshot {
        try requireSnapshots()
        if text == "latest" {
            let (snapshots, problems) = try snapshots()
            if let problem = problems.first { throw BackupError.latestIsUnknown(detail: problem) }
            if let last = try filter.last(of: snapshots, at: now) { return last }
        }
        let matches = text.isEmpty ? [] : try folder.files(.snapshots).filter { $0.description.hasPrefix(text) }
        guard matches.count == 1 else { throw BackupError.unknownSnapshot(text, matches: matches.count) }
        return try openSnapshot(matches[0])
    }

    /// Fails if the folder of the snapshots is missing.
    func requireSnapshots() throws {
        guard try folder.storage.hasSnapshots else {
            throw BackupError.damaged(path: folder.path(.snapshots), detail: "the folder is missing")
        }
    }

    private func openSnapshot(_ name: Identifier) throws -> Snapshot {
        let plain = try openFile(.snapshots, name, label: "snapshot")
        do {
            var snapshot = try JSONDecoder().decode(Snapshot.self, from: Data(plain))
            snapshot.id = name
            return snapshot
        } catch let error as DecodingError {
            throw BackupError.damaged(path: folder.path(.snapshots, name), detail: "it is malformed: \(error)")
        }
    }

    /// Writes a snapshot. It is the last file of a run.
    func add(_ snapshot: Snapshot) throws -> Snapshot {
        var snapshot = snapshot
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        snapshot.id = try addFile(Array(try encoder.encode(snapshot)), to: .snapshots, label: "snapshot")
        return snapshot
    }

    // MARK: The index

    /// What the files of the index say, and the packs that none of them lists.
    struct Contents: Sendable {
        /// The files of the index that were read, or that are damaged. A new one may take the place of all of them.
        var files: [Identifier] = []
        /// All packs whose lists can be read.
        var records: [PackRecord] = []
        /// Those of them that no file of the index lists.
        var unlisted: [PackRecord] = []
        /// Marked packs, which a prune is about to remove. Nobody may count on their blobs.
        var doomed: Set<Identifier> = []
        /// Damage, for people.
        var problems: [String] = []

        /// The places of all blobs, those in marked packs last.
        func index(withDoomed: Bool) -> BlobIndex {
            var index = BlobIndex()
            for record in records where !doomed.contains(record.pack) { index.add(record) }
            if withDoomed { for record in records where doomed.contains(record.pack) { index.add(record) } }
            return index
        }
    }

    /// Reads the index, and the lists of packs that it lacks: those of a run that was killed, or of damaged files.
    func contents() throws -> Contents {
        var contents = Contents()
        // The marks first: a pack that is marked later is still there until all present leases are over.
        contents.doomed = Set(try folder.files(.doomed))
        var listed: [Identifier: PackRecord] = [:]
        for name in try folder.files(.index) {
            do {
                let plain = try openFile(.index, name, label: "index")
                guard let records = try? PackRecord.decode(plain) else {
                    throw BackupError.damaged(path: folder.path(.index, name), detail: "it is malformed")
                }
                for record in records { listed[record.pack] = record }
                contents.files.append(name)
            } catch BackupError.failed(_, _, ENOENT) {
                continue
            } catch {
                if case BackupError.damaged = error { contents.files.append(name) }
                contents.problems.append("\(error)")
            }
        }
        for (pack, size) in try folder.packs().sorted(by: { $0.pack.description < $1.pack.description }) {
            let path = folder.path(.packs, pack)
            if let record = listed.removeValue(forKey: pack) {
                contents.records.append(record.size == size ? record : record.cut(to: size))
                if record.size != size { contents.problems.append("\(path) is not as long as it was") }
                continue
            }
            do {
                let record = try PackFile.record(of: pack, in: folder, size: size, keys: keys)
                contents.records.append(record)
                contents.unlisted.append(record)
            } catch BackupError.failed(_, _, ENOENT) {
                continue
            } catch {
                contents.problems.append("\(error)")
            }
        }
        for missing in listed.keys where !contents.doomed.contains(missing) {
            contents.problems.append("\(folder.path(.packs, missing)) is missing")
        }
        return contents
    }

    /// The length at which a file of the index ends, before it is compressed. Reading has a limit.
    static let longestIndex = 64 << 20

    /// Writes records to the index: one file, or several if there are many.
    ///
    /// - Parameter limit: The bytes of a file before it is compressed, at most; more for a single record.
    func addIndex(_ records: [PackRecord], limit: Int = longestIndex) throws {
        var plain: [UInt8] = []
        for record in records {
            let bytes = PackRecord.encode([record])
            if !plain.isEmpty, plain.count + bytes.count > limit {
                try addFile(plain, to: .index, label: "index")
                plain = []
            }
            plain += bytes
        }
        if !plain.isEmpty { try addFile(plain, to: .index, label: "index") }
    }

    // MARK: Sealed files

    @discardableResult
    private func addFile(_ plain: [UInt8], to room: RepositoryFolder.Room, label: String) throws -> Identifier {
        try folder.add(try keys.seal(Compression.pack(plain), label: Array(label.utf8)), to: room)
    }

    private func openFile(_ room: RepositoryFolder.Room, _ name: Identifier, label: String) throws -> [UInt8] {
        let path = folder.path(room, name)
        let sealed = try folder.read(path)
        guard Identifier(file: sealed) == name, let packed = keys.open(sealed, label: Array(label.utf8)),
            let plain = Compression.unpack(packed, limit: 1 << 30)
        else { throw BackupError.damaged(path: path, detail: "its bytes do not match its name") }
        return plain
    }
}

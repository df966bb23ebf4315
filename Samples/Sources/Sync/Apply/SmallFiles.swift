internal import Crypto
internal import Glibc
internal import QoSRuntime
internal import SafeFiles
internal import TreeScan

/// Copies small files from one folder of this machine to one of the other side, many in one piece of I/O.
///
/// A piece of I/O wakes a worker, and a throttle looks at it. For a small file that costs more than its copy.
struct SmallFiles: Sendable {
    /// The size up to which a file is small, in bytes.
    private static let largest: Int64 = 256 << 10
    /// The files and the bytes that are copied together, at most.
    static let limit: (files: Int, bytes: Int64) = (32, 1 << 20)

    let copier: FileCopier
    let across: LocalReplica
    let source: LocalFolder
    let target: LocalFolder
    let isAlone: Bool

    /// Opens the folders of some steps; nil if they are not on this machine, or not there.
    init?(of path: RelativePath, in target: any ReplicaFolder, on side: Side, copier: FileCopier, isAlone: Bool) {
        guard let target = target as? LocalFolder, let across = copier.replicas[side.other] as? LocalReplica,
            let source = try? across.localFolder(path)
        else { return nil }
        self.copier = copier
        self.across = across
        self.source = source
        self.target = target
        self.isAlone = isAlone || !target.isCovered
    }

    /// Whether a step copies a small file.
    static func contains(_ action: SyncAction, _ options: SyncOptions) -> Bool {
        guard let source = action.source, source.kind == .regular else { return false }
        return source.stamp.size <= largest && source.stamp.size < options.largeFile
    }

    /// Copies the first of some files. The others need more than the throttle grants.
    ///
    /// - Returns: An end for each file that was tried. The last one may be an error that ends the run.
    func copy(_ actions: [SyncAction]) async throws -> [Result<FileCopier.Outcome, any Error>] {
        let bytes = actions.reduce(0) { $0 + Int($1.source?.stamp.size ?? 0) }
        return try await IOThrottle.process.perform(bytes: bytes) { granted in
            var (results, rest): ([Result<FileCopier.Outcome, any Error>], Int) = ([], granted)
            for action in actions {
                rest -= Int(action.source?.stamp.size ?? 0)
                guard rest >= 0, let seen = action.source else { break }
                results.append(Result { try copier.outcome(of: action) { try copy(action, seen) } })
                if case .failure = results.last { break }
            }
            return results
        }
    }

    private func copy(_ action: SyncAction, _ seen: Observation) throws -> FileCopier.Outcome {
        guard FileCopier.isAsSeen(action, try target.status(Array(action.path.name))) else {
            return copier.changed(action)
        }
        let time = copier.options.now()
        guard let file = source.openFile(Array(seen.path.name), writing: false) else {
            throw source.failure("open", Array(seen.path.name))
        }
        let input = OpenDescriptor(owning: file)
        guard let before = EntryStatus(descriptor: file), seen.isSame(as: before) else {
            return .skipped("\(across.display(seen.path)) changed after the scan; the next run looks again")
        }
        var entry = seen
        entry.stamp = before.stamp
        guard target.hasRoom(for: before.stamp.size) else { return copier.noRoom(action) }
        let temporary = copier.replicas[action.side].temporaryName()
        let output = OpenDescriptor(owning: try target.makeFile(temporary))
        do {
            let result = try write(input, to: output, action, before.stamp)
            guard let result else {
                target.discard(temporary)
                return .skipped("\(across.display(seen.path)) changed while it was copied; the next run copies it")
            }
            copier.options.reached(.copied)
            var prepared = PreparedEntry(
                action: action, temporary: temporary, isDurable: isAlone, written: result.state,
                source: ArchiveEntry.SideState(entry, at: time), digest: result.digest, bytes: before.stamp.size,
                lost: result.lost)
            prepared.noteAttributes(result.attributes, of: output.number)
            return .prepared(prepared)
        } catch {
            target.discard(temporary)
            throw error
        }
    }

    /// A file with its content and metadata.
    private struct Written {
        var state: ArchiveEntry.SideState
        var digest: [UInt8]
        /// The attributes of the source.
        var attributes: AttributeSet?
        var lost: [[UInt8]]
    }

    /// Writes content and metadata. Returns nil if the source changed meanwhile.
    private func write(
        _ input: OpenDescriptor, to output: OpenDescriptor, _ action: SyncAction, _ stamp: FileStamp
    ) throws -> Written? {
        // Through memory: the digest needs the bytes. It tells later whether the file is still the one of this sync.
        let (bytes, failure) = FileBytes.read(input.number, from: 0, count: Int(stamp.size))
        guard failure == 0 else { throw FileSystemFailure(path: action.path, operation: "read", code: failure) }
        let isSparse = LocalFolder.occupied(input.number) < stamp.size
        let written =
            isSparse ? Self.writeSparse(bytes, output.number) : FileBytes.write(bytes[...], to: output.number, at: 0)
        guard written == 0 else { throw FileSystemFailure(path: action.path, operation: "write", code: written) }
        guard EntryStatus(descriptor: input.number)?.stamp == stamp else { return nil }
        let owners = copier.replicas[action.side].setsOwners
        var lost: [[UInt8]] = []
        let attributes = ExtendedAttributes.all(of: input.number)
        let code = LocalFolder.setMetadata(
            output.number, action.metadata, owner: owners, attributes: attributes ?? [:], lost: &lost)
        guard code == 0, let status = EntryStatus(descriptor: output.number) else {
            throw FileSystemFailure(path: action.path, operation: "set the metadata of", code: code == 0 ? errno : code)
        }
        let state = ArchiveEntry.SideState(written: status, metadata: Metadata(of: status, owners: owners))
        if isAlone {
            copier.options.disk.waits(.file)
            let code = output.synchronize()
            guard code == 0 else { throw SyncError.notWritten(action.side, code: code) }
        }
        return Written(state: state, digest: Array(SHA256.hash(data: bytes)), attributes: attributes, lost: lost)
    }

    /// Writes all but pages of zeros. Returns the error number, or 0.
    private static func writeSparse(_ bytes: [UInt8], _ file: Int32) -> Int32 {
        let page = 4096
        for start in stride(from: 0, to: bytes.count, by: page) {
            let piece = bytes[start..<min(start + page, bytes.count)]
            guard piece.contains(where: { $0 != 0 }) else { continue }
            let code = FileBytes.write(piece, to: file, at: Int64(start))
            guard code == 0 else { return code }
        }
        return ftruncate(file, off_t(bytes.count)) == 0 ? 0 : errno
    }
}

internal import Crypto
internal import Glibc
internal import QoSRuntime
internal import SafeFiles
internal import Synchronization
internal import TreeScan

/// Compares the contents of two files.
struct FileComparison: Sendable {
    private static let piece = 1 << 20

    let a: any Replica
    let b: any Replica
    /// The digests of files that were found equal, for the archive: small ones, and those that another machine compared.
    let digests = ContentDigests()

    /// Whether both files have the same bytes. A file that cannot be read, or that is not as it was seen, is another
    /// content: so nothing is taken for being in step that is not.
    func isEqual(_ first: Observation, _ second: Observation) async throws -> Bool {
        guard first.stamp.size == second.stamp.size else { return false }
        guard let a = a as? LocalReplica, let b = b as? LocalReplica else {
            let (a, b) = (a, b)
            async let left = a.digest(of: first)
            async let right = b.digest(of: second)
            guard let digest = try await left, try await digest == right else { return false }
            digests.note(digest, of: first.path)
            return true
        }
        guard let left = try? a.root.descriptor(of: first.path, for: .reading)
        else { return false }
        defer { close(left) }
        guard let right = try? b.root.descriptor(of: second.path, for: .reading) else { return false }
        defer { close(right) }
        guard Self.isAsSeen(left, first), Self.isAsSeen(right, second) else { return false }
        var position: Int64 = 0
        var hash = first.stamp.size <= FileDigest.cheap ? SHA256() : nil
        while position < first.stamp.size {
            try Task.checkCancellation()
            let (offset, count) = (Int(position), Int(min(Int64(Self.piece), first.stamp.size - position)))
            let done = try await IOThrottle.process.perform(bytes: 2 * count) { granted in
                let part = max(1, min(count, granted / 2))
                let bytes = FileBytes.read(left, from: offset, count: part)
                let other = FileBytes.read(right, from: offset, count: part)
                let isSame = bytes.code == 0 && other.code == 0 && !bytes.bytes.isEmpty && bytes.bytes == other.bytes
                return isSame ? bytes.bytes : []
            }
            guard !done.isEmpty else { return false }
            hash?.update(data: done)
            position += Int64(done.count)
        }
        guard Self.isAsSeen(left, first), Self.isAsSeen(right, second) else { return false }
        if let hash { digests.note(Array(hash.finalize()), of: first.path) }
        return true
    }

    private static func isAsSeen(_ file: Int32, _ entry: Observation) -> Bool {
        guard let status = EntryStatus(descriptor: file) else { return false }
        return status.kind == .regular && status.stamp == entry.stamp
    }
}

/// The SHA-256 of files that are the same on both sides. Threads may share it.
final class ContentDigests: Sendable {
    private let known = Mutex<[RelativePath: [UInt8]]>([:])

    /// Notes the digest of the file that A has under a path.
    func note(_ digest: [UInt8], of path: RelativePath) { known.withLock { $0[path] = digest } }

    /// The digest of a file, if it was noted.
    subscript(path: RelativePath) -> [UInt8]? { known.withLock { $0[path] } }
}

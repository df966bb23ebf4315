internal import Glibc
import QoSCore
import QoSKernel
import Synchronization

/// Reads and writes single pieces of a file. The pieces of utility and background leave nothing in the page cache that
/// was not there before.
///
/// Where the kernel has RWF_DONTCACHE for the file system (Linux 6.14), it does that. Elsewhere a read first takes the
/// pages that are in memory (RWF_NOWAIT), and only the others are dropped after use. Written pages are dropped beyond the
/// former end of the file: those before it may have been in memory for others.
///
/// Threading: any thread; each call may block.
final class PageCachePolicy: Sendable {
    private let calls: any FileCalls
    /// The size at the opening: pages beyond it are ours.
    private let formerSize: Int64
    private let readsUncached = Atomic(true)
    private let writesUncached = Atomic(true)
    private let knowsResidence = Atomic(true)
    private let writesBack = Atomic(true)
    private let isRandom = Atomic(false)
    /// Whether the kernel may have read ahead for a low class since the last ``isRandom``.
    private let hasReadAhead = Atomic(false)
    /// Whether the file is read from its beginning to its end.
    private let isSequential = Atomic(false)
    private let behind = Lock(WriteBehind())
    /// The negated error number of the last write-back that failed; 0 for none. The kernel tells each failure once.
    private let lost = Atomic<Int32>(0)

    init(calls: any FileCalls, formerSize: Int64) {
        self.calls = calls
        self.formerSize = formerSize
    }

    /// Whether the I/O of a class leaves the page cache alone.
    static func apply(to qosClass: QoSClass) -> Bool { qosClass <= .utility }

    // MARK: Reading

    /// Reads a piece. Returns the number of bytes, or the negated error number.
    func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, for piece: IOGate.Piece
    ) -> Int {
        readAhead(descriptor, at: offset, for: piece)
        guard Self.apply(to: piece.qosClass) else {
            return retrying { unsafe calls.read(descriptor, into: buffer, at: offset, .plain) }
        }
        if readsUncached.load(ordering: .relaxed) {
            let count = retrying { unsafe calls.read(descriptor, into: buffer, at: offset, .uncached) }
            guard count == -Int(EOPNOTSUPP) || count == -Int(EINVAL) else { return count }
            readsUncached.store(false, ordering: .relaxed)
        }
        return unsafe readAndDrop(descriptor, into: buffer, at: offset)
    }

    /// Notes that the file is read from its beginning to its end.
    func readsSequentially(_ descriptor: Int32) {
        isSequential.store(true, ordering: .relaxed)
        if !isRandom.load(ordering: .relaxed) { calls.advise(descriptor, from: 0, count: 0, .sequential) }
    }

    /// Lets the kernel read ahead, or not: its read-ahead may be many megabytes, which no piece limits.
    ///
    /// The advice "random" does not end a read-ahead that goes on: a page that was read ahead may have a mark, and a read
    /// of it lets the kernel read the next megabytes (`page_cache_async_ra` in mm/readahead.c, Linux 6.18). So the pages
    /// ahead of the piece go. Some of them may have been in memory before, which is the lesser evil: it happens once, when
    /// foreground I/O begins in the middle of a low class's way through a file.
    private func readAhead(_ descriptor: Int32, at offset: Int64, for piece: IOGate.Piece) {
        let isAllowed = piece.readsAhead
        if isAllowed, Self.apply(to: piece.qosClass) { hasReadAhead.store(true, ordering: .relaxed) }
        guard isRandom.load(ordering: .relaxed) == isAllowed, knowsReadAhead else { return }
        isRandom.store(!isAllowed, ordering: .relaxed)
        let usual: FileAdvice = isSequential.load(ordering: .relaxed) ? .sequential : .normal
        calls.advise(descriptor, from: 0, count: 0, isAllowed ? usual : .random)
        if !isAllowed, hasReadAhead.exchange(false, ordering: .relaxed) {
            calls.advise(descriptor, from: offset, count: Self.longestReadAhead, .notNeeded)
        }
    }

    /// The range in which pages that were read ahead are looked for. Bytes: two windows of a device that reads 8 MiB ahead,
    /// which is twice as much for a file that is read from its beginning to its end.
    private static let longestReadAhead: Int64 = 32 << 20

    /// Whether pages that the kernel reads ahead do no harm. Without RWF_DONTCACHE they would look as if they had been
    /// in memory before.
    private var knowsReadAhead: Bool { readsUncached.load(ordering: .relaxed) }

    private func readAndDrop(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        // For good: pages that the kernel reads ahead would look as if they had been there before.
        if !isRandom.exchange(true, ordering: .relaxed) { calls.advise(descriptor, from: 0, count: 0, .random) }
        var resident = 0
        if knowsResidence.load(ordering: .relaxed) {
            let count = retrying { unsafe calls.read(descriptor, into: buffer, at: offset, .fromMemory) }
            if count == -Int(EOPNOTSUPP) || count == -Int(EINVAL) || count == -Int(ENOSYS) {
                knowsResidence.store(false, ordering: .relaxed)
            }
            resident = max(0, count)
            if resident == buffer.count { return resident }
        }
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[resident...])
        let start = offset + Int64(resident)
        let count = retrying { unsafe calls.read(descriptor, into: rest, at: start, .plain) }
        guard count >= 0 else { return resident > 0 ? resident : count }
        // Without knowledge of what was resident nothing is dropped.
        if count > 0, knowsResidence.load(ordering: .relaxed) {
            calls.advise(descriptor, from: start, count: Int64(count), .notNeeded)
        }
        return resident + count
    }

    // MARK: Writing

    /// The end of a piece that was written.
    struct Written: Sendable, Hashable {
        /// The number of bytes, or the negated error number.
        let count: Int
        /// The offset from which bytes may be lost, also of pieces before; `nil` if none are.
        var lostFrom: Int64?
    }

    /// Writes a piece.
    func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64, for piece: IOGate.Piece
    ) -> Written {
        guard Self.apply(to: piece.qosClass) else {
            return Written(count: retrying { unsafe calls.write(descriptor, bytes, at: offset, .plain) })
        }
        var count = -Int(EOPNOTSUPP)
        if writesUncached.load(ordering: .relaxed) {
            count = retrying { unsafe calls.write(descriptor, bytes, at: offset, .uncached) }
        }
        if count == -Int(EOPNOTSUPP) || count == -Int(EINVAL) {
            writesUncached.store(false, ordering: .relaxed)
            count = retrying { unsafe calls.write(descriptor, bytes, at: offset, .plain) }
        }
        guard count > 0 else { return Written(count: count) }
        return pace(descriptor, offset..<offset + Int64(count), for: piece) ?? Written(count: count)
    }

    /// The errors of a file system that has no write-back of ranges, or no flush.
    private static let refusals = [EINVAL, ENOSYS, ESPIPE, EOPNOTSUPP]

    /// Starts the write-back of a range, and waits for ranges that were started before. So the file never has more than
    /// a few megabytes to flush, and a piece that must be alone has left the page cache at its end.
    ///
    /// - Returns: the failure, if there is one.
    private func pace(_ descriptor: Int32, _ range: Range<Int64>, for piece: IOGate.Piece) -> Written? {
        guard writesBack.load(ordering: .relaxed) else { return nil }
        let (result, place, isDone): (Int32, Range<Int64>, Bool) =
            switch behind.withLock({ $0.wrote(range, isAlone: piece.isAlone, isNear: !piece.readsAhead) }) {
            case .start: (writeBack(descriptor, range, waits: false), range, false)
            case .wait(let due): (writeBack(descriptor, due, waits: true), due, true)
            case .flush(let due): (Int32(retrying { Int(calls.synchronize(descriptor, dataOnly: true)) }), due, true)
            }
        guard result < 0 else {
            if isDone { drop(descriptor, place) }
            return nil
        }
        guard !Self.refusals.contains(-result) else {
            writesBack.store(false, ordering: .relaxed)
            return nil
        }
        // The kernel tells a lost write once: here, and not at fsync.
        lost.store(result, ordering: .relaxed)
        return Written(count: Int(result), lostFrom: place.lowerBound)
    }

    /// Notes that the file will be synchronized.
    func willSynchronize() { behind.withLock { $0.isSynchronized = true } }

    /// Notes that all that the kernel has of the file is on the disk.
    ///
    /// - Returns: 0, or the negated error number of a write-back that has failed since the last call. The kernel told it
    ///   to a write, and not to fsync(2).
    func synchronized(_ descriptor: Int32) -> Int32 {
        if let rest = behind.withLock({ $0.synchronized() }) { drop(descriptor, rest) }
        return lost.exchange(0, ordering: .relaxed)
    }

    private func drop(_ descriptor: Int32, _ range: Range<Int64>) {
        let start = max(range.lowerBound, formerSize)
        guard !writesUncached.load(ordering: .relaxed), start < range.upperBound else { return }
        calls.advise(descriptor, from: start, count: range.upperBound - start, .notNeeded)
    }

    private func writeBack(_ descriptor: Int32, _ range: Range<Int64>, waits: Bool) -> Int32 {
        Int32(
            retrying {
                Int(
                    calls.writeBack(
                        descriptor, from: range.lowerBound, count: range.upperBound - range.lowerBound, waits: waits))
            })
    }

    /// Repeats a call that a signal interrupted.
    private func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result != -Int(EINTR) { return result }
        }
    }
}

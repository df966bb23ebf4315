internal import Foundation
internal import Glibc

/// A digest of the database as an orderly close left it, in `index.sum` beside it.
///
/// SQLite has no checksums: a changed page may still look like one, and answers then lack files without a word. The
/// digest is no proof against people, who can write it, too.
enum DatabaseDigest {
    /// The bytes that are read at a time.
    private static let piece = 1 << 20

    /// Computes the digest of a file; nil after a time limit, or if it cannot be read. O(size), some gigabytes a second.
    static func of(_ path: String, within limit: Duration? = nil) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let deadline = limit.map { ContinuousClock.now + $0 }
        // Four chains, so that the processor need not wait for a multiplication.
        var chains: [UInt64] = [
            0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x27D4_EB2F_1656_67C5,
        ]
        var size = 0
        var buffer = [UInt8](repeating: 0, count: piece)
        while true {
            if let deadline, ContinuousClock.now > deadline { return nil }
            var count = 0
            while count < piece {
                let got = unsafe buffer.withUnsafeMutableBytes { bytes in
                    unsafe read(descriptor, bytes.baseAddress?.advanced(by: count), piece - count)
                }
                if got == 0 { break }
                if got > 0 { count += got } else if errno != EINTR { return nil }
            }
            if count == 0 { break }
            // The rest of the last block is zeros.
            for index in count..<min(piece, (count + 31) / 32 * 32) { buffer[index] = 0 }
            size += count
            unsafe buffer.withUnsafeBytes { bytes in
                var (a, b, c, d) = (chains[0], chains[1], chains[2], chains[3])
                for offset in stride(from: 0, to: count, by: 32) {
                    a = step(a, unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    b = step(b, unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
                    c = step(c, unsafe bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
                    d = step(d, unsafe bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
                }
                chains = [a, b, c, d]
            }
        }
        return "\(size) " + chains.map { String($0, radix: 16) }.joined(separator: " ")
    }

    private static func step(_ chain: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (chain ^ word) &* 0x100_0000_01B3_0001
        return mixed << 29 | mixed >> 35
    }

    /// Whether the database is as the last orderly close left it; nil if that close left no digest.
    static func matches(_ files: IndexFiles) -> Bool? {
        guard let data = FileManager.default.contents(atPath: path(files)) else { return nil }
        return of(files.database) == String(decoding: data, as: UTF8.self)
    }

    /// Writes the digest of a database that was closed. A failure, or the end of the time, leaves none: the next start
    /// then compares nothing.
    static func write(_ files: IndexFiles, within limit: Duration) {
        guard let digest = of(files.database, within: limit) else { return }
        try? Data(digest.utf8).write(to: URL(fileURLWithPath: path(files)), options: .atomic)
    }

    /// Removes the digest, before anything is written.
    static func remove(_ files: IndexFiles) {
        unsafe unlink(path(files))
    }

    private static func path(_ files: IndexFiles) -> String { files.directory + "/index.sum" }
}

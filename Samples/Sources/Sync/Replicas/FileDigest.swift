package import Crypto
internal import QoSRuntime
package import SafeFiles

/// The SHA-256 of an open file, read in pieces.
package enum FileDigest {
    private static let piece = 1 << 20
    /// The size up to which the digest of a file costs little beside its copy, in bytes.
    package static let cheap: Int64 = 1 << 20

    /// Computes the digest of the first `size` bytes; nil if they cannot be read.
    package static func compute(_ file: OpenDescriptor, to size: Int64) async -> [UInt8]? {
        var hash = SHA256()
        guard await update(&hash, with: file, to: size) else { return nil }
        return Array(hash.finalize())
    }

    /// Adds the first `size` bytes to a digest. Returns whether all could be read.
    package static func update(_ hash: inout SHA256, with file: OpenDescriptor, to size: Int64) async -> Bool {
        var position: Int64 = 0
        while position < size {
            let (offset, wanted) = (Int(position), Int(min(Int64(piece), size - position)))
            let result = try? await IOThrottle.process.perform(bytes: wanted) { granted in
                FileBytes.read(file.number, from: offset, count: max(1, min(wanted, granted)))
            }
            guard let (bytes, code) = result, code == 0, !bytes.isEmpty else { return false }
            hash.update(data: bytes)
            position += Int64(bytes.count)
        }
        return true
    }
}

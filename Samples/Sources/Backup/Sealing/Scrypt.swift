internal import CScrypt
internal import Crypto

/// The derivation of a key from a passphrase, scrypt (RFC 7914).
///
/// Memory: 64 bytes for each unit of `size` and each round, which is half of what scrypt names.
struct Scrypt {
    /// N of the RFC: a power of two, 2 or more.
    let rounds: Int
    /// r of the RFC: a row of the table has 128 times as many bytes.
    let size: Int
    /// p of the RFC.
    let lanes: Int

    /// Returns the bytes of the key.
    ///
    /// - Throws: `BackupError.failed` if there is no memory for the table.
    func derive(from passphrase: [UInt8], salt: [UInt8], count: Int) throws(BackupError) -> [UInt8] {
        let length = 128 * size
        var blocks = Self.stretch(passphrase, salt: salt, count: lanes * length)
        for lane in 0..<lanes {
            let code = unsafe blocks.withUnsafeMutableBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return Int32(0) }
                return unsafe cscrypt_mix(start + lane * length, size, UInt64(rounds))
            }
            guard code == 0 else {
                throw .failed(path: "memory for the passphrase", operation: "allocate", code: code)
            }
        }
        return Self.stretch(passphrase, salt: blocks, count: count)
    }

    /// PBKDF2 with HMAC-SHA256 and one iteration (RFC 8018).
    private static func stretch(_ passphrase: [UInt8], salt: [UInt8], count: Int) -> [UInt8] {
        let key = SymmetricKey(data: passphrase)
        var bytes: [UInt8] = []
        var number: UInt32 = 1
        while bytes.count < count {
            var hash = HMAC<SHA256>(key: key)
            hash.update(data: salt)
            hash.update(data: (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) })
            bytes += Array(hash.finalize())
            number += 1
        }
        return Array(bytes.prefix(count))
    }
}

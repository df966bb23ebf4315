internal import Crypto
internal import CryptoExtras
internal import Foundation

/// The file `repository`: version, cost of the passphrase, and the master key under it.
///
/// Two lines: a JSON object, and the SHA-256 of the first line in hexadecimal. So a damaged file is told from a wrong
/// passphrase.
struct RepositoryHeader: Codable {
    static let version = 1

    private static let format = "qos-backup"

    var format: String
    var version: Int
    var salt: String
    var n: Int
    var r: Int
    var p: Int
    var key: String

    /// Wraps a master key.
    init(master: [UInt8], passphrase: [UInt8], cost: PassphraseCost) throws {
        format = Self.format
        version = Self.version
        salt = Hexadecimal.text(RepositoryKeys.random(32))
        n = cost.rounds
        r = 8
        p = cost.passes
        key = ""
        key = Hexadecimal.text(
            try RepositoryKeys.seal(master, label: label, key: try wrappingKey(passphrase)))
    }

    /// Reads the file.
    ///
    /// - Throws: `BackupError.damaged`, `.newerFormat`.
    init(file bytes: [UInt8], path: String) throws {
        func damaged(_ detail: String) -> BackupError { .damaged(path: path, detail: detail) }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == 3, lines[2].isEmpty, String(decoding: lines[1], as: UTF8.self) == Self.sum(lines[0]) else {
            throw damaged("its second line is not the SHA-256 of the first")
        }
        struct Versioned: Decodable {
            var format: String
            var version: Int
        }
        guard let versioned = try? JSONDecoder().decode(Versioned.self, from: Data(lines[0])),
            versioned.format == Self.format
        else { throw BackupError.notARepository(path: path) }
        guard versioned.version == Self.version else {
            throw BackupError.newerFormat(path: path, version: versioned.version)
        }
        guard let header = try? JSONDecoder().decode(RepositoryHeader.self, from: Data(lines[0])),
            header.isSensible
        else { throw damaged("its fields are not those of version 1") }
        self = header
    }

    /// The bytes of the file.
    func file() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = Array(try encoder.encode(self))
        return line + Array("\n\(Self.sum(line[...]))\n".utf8)
    }

    /// Unwraps the master key; nil if the passphrase is another.
    func master(passphrase: [UInt8]) throws -> [UInt8]? {
        guard let sealed = Hexadecimal.bytes(key) else { return nil }
        let master = RepositoryKeys.open(sealed, label: label, key: try wrappingKey(passphrase))
        return master?.count == RepositoryKeys.masterLength ? master : nil
    }

    /// What the sealed key is bound to: all other fields.
    private var label: [UInt8] { Array("\(format) \(version) key \(salt) \(n) \(r) \(p)".utf8) }

    /// Limits the memory that a foreign file may ask for.
    private var isSensible: Bool {
        PassphraseCost.allowed.contains(n) && n.nonzeroBitCount == 1 && (1...16).contains(r) && (1...16).contains(p)
    }

    private func wrappingKey(_ passphrase: [UInt8]) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: passphrase, salt: Hexadecimal.bytes(salt) ?? [], outputByteCount: 32, rounds: n, blockSize: r,
            parallelism: p, maxMemory: 4 << 30)
    }

    private static func sum(_ line: ArraySlice<UInt8>) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(line)))
    }
}

internal import Chunking
internal import Crypto
internal import Foundation

/// The keys of a repository, all from one master key: for sealing, for names of blobs and for the ends of chunks.
struct RepositoryKeys: Sendable {
    /// The bytes of a master key.
    static let masterLength = 32
    /// The bytes that sealing adds: nonce and tag.
    static let overhead = 28

    private let sealing: SymmetricKey
    private let naming: SymmetricKey
    let gear: GearTable

    /// Derives the keys: HMAC-SHA256 of a label, under the master key.
    init(master: [UInt8]) {
        let master = SymmetricKey(data: master)
        func derived(_ label: String) -> SymmetricKey {
            SymmetricKey(data: Array(HMAC<SHA256>.authenticationCode(for: Array(label.utf8), using: master)))
        }
        sealing = derived("qos-backup 1 sealing")
        naming = derived("qos-backup 1 naming")
        let cutting = derived("qos-backup 1 cutting")
        gear = GearTable { byte in
            HMAC<SHA256>.authenticationCode(for: [byte], using: cutting).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// Random bytes of the kernel, getrandom(2).
    static func random(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255) }
    }

    /// The name of a blob: HMAC-SHA256 of its plain text.
    func name(of plain: [UInt8]) -> Identifier {
        Identifier(HMAC<SHA256>.authenticationCode(for: plain, using: naming))
    }

    /// Seals with AES-256-GCM and a random nonce: nonce, cipher text, tag. The label is authenticated, not stored.
    func seal(_ plain: [UInt8], label: [UInt8]) throws -> [UInt8] {
        try Self.seal(plain, label: label, key: sealing)
    }

    /// Opens what `seal` made with the same label; nil if one bit is another.
    func open(_ sealed: [UInt8], label: [UInt8]) -> [UInt8]? {
        Self.open(sealed, label: label, key: sealing)
    }

    static func seal(_ plain: [UInt8], label: [UInt8], key: SymmetricKey) throws -> [UInt8] {
        let box = try AES.GCM.seal(plain, using: key, authenticating: label)
        return box.combined.map { Array($0) } ?? Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    static func open(_ sealed: [UInt8], label: [UInt8], key: SymmetricKey) -> [UInt8]? {
        guard sealed.count >= overhead, let box = try? AES.GCM.SealedBox(combined: sealed),
            let plain = try? AES.GCM.open(box, using: key, authenticating: label)
        else { return nil }
        return Array(plain)
    }
}

extension Identifier {
    /// The name of a file of the repository: SHA-256 of its bytes.
    init(file bytes: [UInt8]) {
        self.init(SHA256.hash(data: bytes))
    }
}

import Crypto
import CryptoExtras
import Foundation
import SampleTestSupport
import Testing

@testable import Backup

@Suite("The key of a passphrase")
struct ScryptTests {
    private struct Vector {
        let passphrase: String
        let salt: String
        let scrypt: Scrypt
        let key: String
    }

    @Test("the test vectors of RFC 7914, section 12")
    func vectors() throws {
        let vectors = [
            Vector(
                passphrase: "", salt: "", scrypt: Scrypt(rounds: 16, size: 1, lanes: 1),
                key: "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                    + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"),
            Vector(
                passphrase: "password", salt: "NaCl", scrypt: Scrypt(rounds: 1024, size: 8, lanes: 16),
                key: "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                    + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"),
            Vector(
                passphrase: "pleaseletmein", salt: "SodiumChloride", scrypt: Scrypt(rounds: 16384, size: 8, lanes: 1),
                key: "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                    + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"),
        ]
        for vector in vectors {
            let key = try vector.scrypt.derive(
                from: Array(vector.passphrase.utf8), salt: Array(vector.salt.utf8), count: 64)
            #expect(Hexadecimal.text(key) == vector.key)
        }
    }

    @Test("the same key as from a table with all rows", arguments: [2, 4, 32, 256], [1, 2, 3, 8, 16])
    func likeAnother(rounds: Int, size: Int) throws {
        var generator = SeededGenerator(seed: UInt64(rounds * 100 + size))
        for lanes in [1, 3] {
            // RFC 7914: N must be less than 2^(128 * r / 8).
            guard rounds < 1 << min(62, 16 * size) else { continue }
            let passphrase = (0..<Int.random(in: 1...100, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let salt = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let other = try KDF.Scrypt.deriveKey(
                from: passphrase, salt: salt, outputByteCount: 40, rounds: rounds, blockSize: size, parallelism: lanes)
            let key = try Scrypt(rounds: rounds, size: size, lanes: lanes).derive(
                from: passphrase, salt: salt, count: 40)
            #expect(other == SymmetricKey(data: key), "\(lanes) lanes")
        }
    }
}

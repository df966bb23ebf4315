import QoSTesting
import Testing

@testable import QoSMessages

/// Vectors of the specification.
private enum Vectors {
    /// RFC 8949, appendix A: the values of the subset, with their bytes.
    static let all: [(CBORValue, String)] = numbers + texts + containers

    private static let numbers: [(CBORValue, String)] = [
        (.unsigned(0), "00"), (.unsigned(1), "01"), (.unsigned(10), "0a"), (.unsigned(23), "17"),
        (.unsigned(24), "1818"), (.unsigned(25), "1819"), (.unsigned(100), "1864"), (.unsigned(1000), "1903e8"),
        (.unsigned(1_000_000), "1a000f4240"), (.unsigned(1_000_000_000_000), "1b000000e8d4a51000"),
        (.unsigned(.max), "1bffffffffffffffff"), (.negative(.max), "3bffffffffffffffff"), (.negative(0), "20"),
        (.negative(9), "29"), (.negative(99), "3863"), (.negative(999), "3903e7"), (.double(0), "f90000"),
        (.double(-0.0), "f98000"), (.double(1), "f93c00"), (.double(1.1), "fb3ff199999999999a"),
        (.double(1.5), "f93e00"), (.double(65504), "f97bff"), (.double(100_000), "fa47c35000"),
        (.double(3.4028234663852886e+38), "fa7f7fffff"), (.double(1.0e+300), "fb7e37e43c8800759c"),
        (.double(5.960464477539063e-8), "f90001"), (.double(0.00006103515625), "f90400"), (.double(-4), "f9c400"),
        (.double(-4.1), "fbc010666666666666"), (.double(.infinity), "f97c00"), (.double(-.infinity), "f9fc00"),
    ]

    private static let texts: [(CBORValue, String)] = [
        (.bool(false), "f4"), (.bool(true), "f5"), (.null, "f6"), (.bytes([]), "40"),
        (.bytes([1, 2, 3, 4]), "4401020304"), (.text(""), "60"), (.text("a"), "6161"), (.text("IETF"), "6449455446"),
        (.text("\"\\"), "62225c"), (.text("\u{00fc}"), "62c3bc"), (.text("\u{6c34}"), "63e6b0b4"),
        (.text("\u{10151}"), "64f0908591"),
    ]

    private static let containers: [(CBORValue, String)] = [
        (.array([]), "80"),
        (.array([.unsigned(1), .unsigned(2), .unsigned(3)]), "83010203"),
        (
            .array([.unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)])]),
            "8301820203820405"
        ),
        (.array(upTo25), "98190102030405060708090a0b0c0d0e0f101112131415161718181819"),
        (.map([]), "a0"),
        (
            .map([.init(key: "a", value: .unsigned(1)), .init(key: "b", value: .array([.unsigned(2), .unsigned(3)]))]),
            "a26161016162820203"
        ),
        (.array([.text("a"), .map([.init(key: "b", value: .text("c"))])]), "826161a161626163"),
    ]

    private static let upTo25: [CBORValue] = (1...25).map { CBORValue.unsigned(UInt64($0)) }
}

@Suite("CBOR: payloads in their one encoding")
struct CBORTests {

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    @Test("a dictionary of any size comes back")
    func dictionary() throws {
        let values = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ("key \($0)", $0) })
        #expect(try CBOREncoding.decode([String: Int].self, from: CBOREncoding.encode(values)) == values)
    }

    @Test("the vectors of the specification, both ways", arguments: Vectors.all.indices)
    func vectors(index: Int) throws {
        let (value, text) = Vectors.all[index]
        #expect(value.encoded == Self.bytes(text))
        let read = try CBORValue(Self.bytes(text))
        #expect(read.encoded == Self.bytes(text))
        // Floats are read in their width; all others are equal.
        switch value {
        case .double: break
        default: #expect(read == value)
        }
    }

    @Test(
        "what the subset leaves out is refused",
        arguments: [
            "5f42010243030405ff", "7f657374726561646d696e67ff", "9fff", "bf61610161629f0203ffff", "c11a514b67b0",
            "c249010000000000000000", "f0", "f8ff", "f818", "a201020304", "a2616101616102", "1c", "ff", "", "18",
            "62c3", "62c328", "8301", "0000", "9bffffffffffffffff", "5bffffffffffffffff", "bbffffffffffffffff",
        ])
    func refused(text: String) {
        #expect(throws: CBORError.self) { try CBORValue(Self.bytes(text)) }
    }

    @Test("64 levels are read, 65 are refused, and a million end early")
    func depth() throws {
        _ = try CBORValue([UInt8](repeating: 0x81, count: 64) + [0])
        #expect(throws: CBORError.tooDeep) { try CBORValue([UInt8](repeating: 0x81, count: 65) + [0]) }
        #expect(throws: CBORError.tooDeep) { try CBORValue([UInt8](repeating: 0x81, count: 1_000_000)) }
    }

    struct Everything: Codable, Equatable {
        enum Kind: String, Codable { case one, two }
        struct Inner: Codable, Equatable {
            var list: [Int?]
            var table: [String: Double]
        }
        var int = -5
        var small: Int8 = -128
        var large = UInt64.max
        var least = Int64.min
        var double = 0.1
        var float: Float = 1.5
        var flag = true
        var text = "größe"
        var bytes: [UInt8] = [0, 255]
        var nothing: String?
        var something: String? = "x"
        var kind = Kind.two
        var inner = Inner(list: [1, nil, 3], table: ["b": 1, "aa": 2, "a": 3])
        var numbers: [Int: String] = [3: "c", 1: "a"]
    }

    @Test("a value of every kind comes back, and equal values have equal bytes")
    func codable() throws {
        let bytes = try CBOREncoding.encode(Everything())
        #expect(try CBOREncoding.decode(Everything.self, from: bytes) == Everything())
        #expect(try CBOREncoding.encode(Everything()) == bytes)
        #expect(try CBOREncoding.encode(5) == [5])
        #expect(try CBOREncoding.decode(Int.self, from: [5]) == 5)
        #expect(try CBOREncoding.encode([UInt8](repeating: 9, count: 3)) == [0x43, 9, 9, 9])
        #expect(try CBOREncoding.decode([UInt8].self, from: [0x83, 9, 9, 9]) == [9, 9, 9])
    }

    struct Newer: Codable {
        var a: Int
        var b: Int?
    }

    struct Older: Codable, Equatable {
        var a: Int
    }

    @Test("unknown fields are skipped, optional ones may be missing")
    func versions() throws {
        #expect(try CBOREncoding.decode(Older.self, from: CBOREncoding.encode(Newer(a: 1, b: 2))) == Older(a: 1))
        #expect(try CBOREncoding.decode(Newer.self, from: CBOREncoding.encode(Older(a: 1))).b == nil)
        #expect(throws: DecodingError.self) { try CBOREncoding.decode(Older.self, from: [0xA0]) }
        #expect(throws: DecodingError.self) { try CBOREncoding.decode(UInt8.self, from: [0x19, 1, 0]) }
        #expect(throws: DecodingError.self) { try CBOREncoding.decode(UInt8.self, from: [0x20]) }
    }

    @Test("random bytes never trap, and what is read is written back as a value that is equal", arguments: 0..<64)
    func fuzz(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let base = try CBOREncoding.encode(Everything())
        for _ in 0..<500 {
            var bytes = base
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                }
            }
            _ = try? CBOREncoding.decode(Everything.self, from: bytes)
            if let value = try? CBORValue(bytes) {
                let again = try CBORValue(value.encoded)
                #expect(again.encoded == value.encoded)
            }
        }
    }
}

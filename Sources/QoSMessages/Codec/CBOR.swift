// Payloads as CBOR (RFC 8949), for `Codable` types and without Foundation.
//
// Problem. A request's payload is encoded and decoded on the way that its latency is made of. JSON knows no bytes and no
// 64-bit numbers, and its coder comes with Foundation.
//
// Idea. The encoder collects a tree of values, one node for each container, and writes it in one pass. The decoder reads
// the bytes into such a tree, with every length checked against the bytes that are left, and hands it out.
//
// The encoding is deterministic (RFC 8949 §4.2): shortest numbers, definite lengths, keys in the order of their bytes.
// Equal values give equal bytes. Keys are the coding keys' strings. `[UInt8]` is a byte string.
//
// The decoder takes any order of keys, and numbers in any width. It refuses indefinite lengths, tags, simple values
// other than `false`, `true`, `null` and `undefined`, keys that are no strings or stand twice, more than 64 levels, and
// bytes behind the value. No input makes it trap; it allocates in proportion to the input.

/// A value of CBOR.
indirect enum CBORValue: Sendable, Hashable {
    case unsigned(UInt64)
    /// −1 − n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([Entry])
    case bool(Bool)
    case null
    case float(Float)
    case double(Double)

    struct Entry: Sendable, Hashable {
        var key: String
        var value: CBORValue
    }
}

/// The reason for which bytes are no value of the subset.
enum CBORError: String, Error, Sendable, Hashable {
    case truncated, trailingBytes, unsupported, tooDeep, duplicateKey, badText
}

// MARK: - Bytes

extension CBORValue {
    /// Most levels of arrays and maps.
    static let maximumDepth = 64

    /// The value's bytes.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .unsigned(let number): Self.head(0, number, &bytes)
        case .negative(let number): Self.head(1, number, &bytes)
        case .bytes(let content):
            Self.head(2, UInt64(content.count), &bytes)
            bytes.append(contentsOf: content)
        case .text(let text): Self.write(text, &bytes)
        case .array(let values):
            Self.head(4, UInt64(values.count), &bytes)
            for value in values { value.write(to: &bytes) }
        case .map(let entries):
            Self.head(5, UInt64(entries.count), &bytes)
            for entry in entries.sorted(by: { Self.precedes($0.key, $1.key) }) {
                Self.write(entry.key, &bytes)
                entry.value.write(to: &bytes)
            }
        case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
        case .null: bytes.append(0xF6)
        case .float(let number): Self.write(number, &bytes)
        case .double(let number): Self.write(number, &bytes)
        }
    }

    /// The order of the keys' bytes: shorter strings have lower heads.
    static func precedes(_ left: String, _ right: String) -> Bool {
        let (leftCount, rightCount) = (left.utf8.count, right.utf8.count)
        return leftCount == rightCount ? left.utf8.lexicographicallyPrecedes(right.utf8) : leftCount < rightCount
    }

    private static func write(_ text: String, _ bytes: inout [UInt8]) {
        head(3, UInt64(text.utf8.count), &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    private static func head(_ major: UInt8, _ number: UInt64, _ bytes: inout [UInt8]) {
        let type = major << 5
        switch number {
        case 0..<24: bytes.append(type | UInt8(number))
        case 24...0xFF: bytes.append(contentsOf: [type | 24, UInt8(number)])
        case 0x100...0xFFFF:
            bytes.append(type | 25)
            big(UInt16(number), &bytes)
        case 0x1_0000...0xFFFF_FFFF:
            bytes.append(type | 26)
            big(UInt32(number), &bytes)
        default:
            bytes.append(type | 27)
            big(number, &bytes)
        }
    }

    /// Writes the shortest float that has the same value.
    private static func write(_ number: Double, _ bytes: inout [UInt8]) {
        let narrow = Float(number)
        if Double(narrow) == number || number.isNaN {
            write(narrow, &bytes)
        } else {
            bytes.append(0xFB)
            big(number.bitPattern, &bytes)
        }
    }

    private static func write(_ number: Float, _ bytes: inout [UInt8]) {
        if number.isNaN {
            bytes.append(contentsOf: [0xF9, 0x7E, 0x00])
        } else if let half = half(number) {
            bytes.append(0xF9)
            big(half, &bytes)
        } else {
            bytes.append(0xFA)
            big(number.bitPattern, &bytes)
        }
    }

    private static func big<Number: FixedWidthInteger>(_ number: Number, _ bytes: inout [UInt8]) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }

    /// The bits of a half-precision float of the same value; `nil` if there is none.
    private static func half(_ number: Float) -> UInt16? {
        let bits = number.bitPattern
        let sign = UInt16(truncatingIfNeeded: bits >> 16) & 0x8000
        if number.isInfinite { return sign | 0x7C00 }
        if number == 0 { return sign }
        let exponent = Int(bits >> 23 & 0xFF) - 127
        let fraction = bits & 0x7F_FFFF
        if (-14...15).contains(exponent) {
            return fraction & 0x1FFF == 0 ? sign | UInt16(exponent + 15) << 10 | UInt16(fraction >> 13) : nil
        }
        guard (-24 ..< -14).contains(exponent) else { return nil }
        // A subnormal: the fraction with its leading bit, in units of 2⁻²⁴.
        let whole = fraction | 0x80_0000
        let shift = UInt32(-1 - exponent)
        return whole & ((1 << shift) - 1) == 0 ? sign | UInt16(whole >> shift) : nil
    }

    /// Reads one value that fills the bytes.
    init(_ bytes: [UInt8]) throws(CBORError) {
        var reader = CBORReader(rest: bytes[...])
        self = try reader.value(depth: 0)
        guard reader.rest.isEmpty else { throw .trailingBytes }
    }
}

private struct CBORReader {
    var rest: ArraySlice<UInt8>

    mutating func value(depth: Int) throws(CBORError) -> CBORValue {
        guard depth <= CBORValue.maximumDepth else { throw .tooDeep }
        let head = try byte()
        let (major, low) = (head >> 5, head & 31)
        if major == 7 { return try simple(low) }
        let number = try number(low)
        switch major {
        case 0: return .unsigned(number)
        case 1: return .negative(number)
        case 2: return .bytes(Array(try take(number)))
        case 3: return .text(try text(number))
        case 4:
            // Each value has a byte at least.
            guard number <= UInt64(rest.count) else { throw .truncated }
            var values: [CBORValue] = []
            for _ in 0..<number { values.append(try value(depth: depth + 1)) }
            return .array(values)
        case 5:
            guard number <= UInt64(rest.count / 2) else { throw .truncated }
            return .map(try entries(Int(number), depth: depth + 1))
        default: throw .unsupported
        }
    }

    private mutating func entries(_ count: Int, depth: Int) throws(CBORError) -> [CBORValue.Entry] {
        var entries: [CBORValue.Entry] = []
        // A deterministic map is in order. Another one is compared as a whole.
        var isOrdered = true
        for _ in 0..<count {
            let head = try byte()
            guard head >> 5 == 3 else { throw .unsupported }
            let key = try text(try number(head & 31))
            if let last = entries.last, !CBORValue.precedes(last.key, key) { isOrdered = false }
            entries.append(CBORValue.Entry(key: key, value: try value(depth: depth)))
        }
        if !isOrdered, Set(entries.map { Array($0.key.utf8) }).count != entries.count { throw .duplicateKey }
        return entries
    }

    private mutating func byte() throws(CBORError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .truncated }
        return byte
    }

    private mutating func take(_ count: UInt64) throws(CBORError) -> ArraySlice<UInt8> {
        guard count <= UInt64(rest.count) else { throw .truncated }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }

    private mutating func text(_ count: UInt64) throws(CBORError) -> String {
        guard let text = String(validating: try take(count), as: UTF8.self) else { throw .badText }
        return text
    }

    private mutating func number(_ low: UInt8) throws(CBORError) -> UInt64 {
        switch low {
        case 0..<24: return UInt64(low)
        case 24: return try big(1)
        case 25: return try big(2)
        case 26: return try big(4)
        case 27: return try big(8)
        default: throw .unsupported
        }
    }

    private mutating func big(_ count: UInt64) throws(CBORError) -> UInt64 {
        try take(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func simple(_ low: UInt8) throws(CBORError) -> CBORValue {
        switch low {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22, 23: return .null
        case 25: return .float(Self.wide(UInt16(try big(2))))
        case 26: return .float(Float(bitPattern: UInt32(try big(4))))
        case 27: return .double(Double(bitPattern: try big(8)))
        default: throw .unsupported
        }
    }

    private static func wide(_ half: UInt16) -> Float {
        let sign: Float = half & 0x8000 == 0 ? 1 : -1
        let (exponent, fraction) = (Int(half >> 10 & 31), Float(half & 0x3FF))
        switch exponent {
        case 0: return sign * fraction * 0x1p-24
        case 31: return fraction == 0 ? sign * .infinity : .nan
        default: return sign * Float(sign: .plus, exponent: exponent - 25, significand: fraction + 1024)
        }
    }
}

// MARK: - Encoding

/// Encodes payloads.
enum CBOREncoding {
    /// Returns the bytes of a value.
    static func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let node = CBORNode()
        try node.encode(value, path: [])
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        node.write(to: &bytes)
        return bytes
    }

    /// Reads a value of a type.
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try CBORDecoder(value: CBORValue(bytes), codingPath: []).decode(type)
    }
}

/// A place in the tree that an encoder fills.
private final class CBORNode {
    enum Content {
        /// Nothing yet: a value that encodes nothing is an empty map.
        case empty
        case value(CBORValue)
        case array([CBORNode])
        case map([(key: String, node: CBORNode)])
    }

    /// The largest number of keys among which a search costs less than a table. Most payloads have fewer fields; a
    /// dictionary may have any number.
    static let searched = 16

    var content = Content.empty
    /// The places of keys, for more than ``searched``.
    private var places: [String: Int] = [:]

    static func places(of keys: some Sequence<String>) -> [String: Int] {
        Dictionary(zip(keys, 0...), uniquingKeysWith: { first, _ in first })
    }

    init() {}
    init(_ value: CBORValue) { content = .value(value) }

    func write(to bytes: inout [UInt8]) { value.write(to: &bytes) }

    var value: CBORValue {
        switch content {
        case .empty: .map([])
        case .value(let value): value
        case .array(let nodes): .array(nodes.map(\.value))
        case .map(let entries): .map(entries.map { CBORValue.Entry(key: $0.key, value: $0.node.value) })
        }
    }

    func append() -> CBORNode {
        let node = CBORNode()
        guard case .array(var nodes) = content else {
            content = .array([node])
            return node
        }
        content = .empty
        nodes.append(node)
        content = .array(nodes)
        return node
    }

    /// Sets the value of a key. The later one counts.
    func set(_ key: String, _ node: CBORNode) {
        guard case .map(var entries) = content else {
            content = .map([(key, node)])
            return
        }
        content = .empty
        let isSearched = entries.count <= Self.searched
        if !isSearched, places.isEmpty {
            places = Self.places(of: entries.lazy.map(\.key))
        }
        if let index = isSearched ? entries.firstIndex(where: { $0.key == key }) : places[key] {
            entries[index].node = node
        } else {
            if !isSearched { places[key] = entries.count }
            entries.append((key, node))
        }
        content = .map(entries)
    }

    func encode<Value: Encodable>(_ value: Value, path: [any CodingKey]) throws {
        if let simple = CBORValue(simple: value) {
            content = .value(simple)
        } else {
            try value.encode(to: CBOREncoder(node: self, codingPath: path))
        }
    }
}

extension CBORValue {
    /// The value of a type that has one of its own here; `nil` for all others.
    fileprivate init?<Value>(simple value: Value) {
        // Casts to the type that the value has: a cast to an existential looks for a conformance each time.
        switch value {
        case let value as String: self = .text(value)
        case let value as Int: self.init(value)
        case let value as Bool: self = .bool(value)
        case let value as [UInt8]: self = .bytes(value)
        case let value as Double: self = .double(value)
        case let value as Float: self = .float(value)
        case let value as UInt64: self.init(value)
        case let value as Int64: self.init(value)
        case let value as UInt: self.init(value)
        case let value as UInt32: self.init(value)
        case let value as Int32: self.init(value)
        case let value as UInt16: self.init(value)
        case let value as Int16: self.init(value)
        case let value as UInt8: self.init(value)
        case let value as Int8: self.init(value)
        default: return nil
        }
    }

    fileprivate init<Number: FixedWidthInteger>(_ number: Number) {
        self =
            number < 0 ? .negative(UInt64(truncatingIfNeeded: ~number)) : .unsigned(UInt64(truncatingIfNeeded: number))
    }
}

private struct CBOREncoder: Encoder {
    let node: CBORNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .empty = node.content { node.content = .map([]) }
        return KeyedEncodingContainer(CBORKeyedEncoding(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .empty = node.content { node.content = .array([]) }
        return CBORUnkeyedEncoding(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        CBORSingleEncoding(node: node, codingPath: codingPath)
    }
}

private struct CBORKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: CBORNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { node.set(key.stringValue, CBORNode(.null)) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let child = CBORNode()
        try child.encode(value, path: codingPath + [key])
        node.set(key.stringValue, child)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<
        Nested
    > {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { nested(CBORKey.super) }

    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> CBOREncoder {
        let child = CBORNode()
        node.set(key.stringValue, child)
        return CBOREncoder(node: child, codingPath: codingPath + [key])
    }
}

private struct CBORUnkeyedEncoding: UnkeyedEncodingContainer {
    let node: CBORNode
    let codingPath: [any CodingKey]

    var count: Int {
        if case .array(let nodes) = node.content { nodes.count } else { 0 }
    }

    func encodeNil() { node.append().content = .value(.null) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let key = CBORKey(index: count)
        try node.append().encode(value, path: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }

    func superEncoder() -> any Encoder { nested() }

    private func nested() -> CBOREncoder {
        CBOREncoder(node: node.append(), codingPath: codingPath + [CBORKey(index: count)])
    }
}

private struct CBORSingleEncoding: SingleValueEncodingContainer {
    let node: CBORNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.content = .value(.null) }

    func encode<Value: Encodable>(_ value: Value) throws { try node.encode(value, path: codingPath) }
}

private struct CBORKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let `super` = CBORKey(stringValue: "super")

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init?(intValue: Int) { self.init(index: intValue) }
    init(index: Int) { (stringValue, intValue) = ("\(index)", index) }
}

// MARK: - Decoding

private struct CBORDecoder: Decoder {
    let value: CBORValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let result: Any?
        if type == String.self {
            result = value.text
        } else if type == Int.self {
            result = value.integer(Int.self)
        } else if type == Bool.self {
            result = value.bool
        } else if type == [UInt8].self {
            // Another coder may have written an array.
            guard let bytes = value.byteString else { return try Value(from: self) }
            result = bytes
        } else if type == Double.self {
            result = value.double
        } else if type == Float.self {
            result = value.double.map { Float($0) }
        } else if type == UInt64.self {
            result = value.integer(UInt64.self)
        } else if type == Int64.self {
            result = value.integer(Int64.self)
        } else if type == UInt.self {
            result = value.integer(UInt.self)
        } else if type == UInt32.self {
            result = value.integer(UInt32.self)
        } else if type == Int32.self {
            result = value.integer(Int32.self)
        } else if type == UInt16.self {
            result = value.integer(UInt16.self)
        } else if type == Int16.self {
            result = value.integer(Int16.self)
        } else if type == UInt8.self {
            result = value.integer(UInt8.self)
        } else if type == Int8.self {
            result = value.integer(Int8.self)
        } else {
            return try Value(from: self)
        }
        guard let result = result as? Value else { throw mismatch(type) }
        return result
    }

    func mismatch<Value>(_ type: Value.Type) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(codingPath: codingPath, debugDescription: "no value of \(type), or out of its range"))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let entries) = value else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(CBORKeyedDecoding(entries: entries, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch value {
        case .array(let values): return CBORUnkeyedDecoding(values: values, codingPath: codingPath)
        case .bytes(let bytes):
            return CBORUnkeyedDecoding(values: bytes.map { .unsigned(UInt64($0)) }, codingPath: codingPath)
        default: throw mismatch([Any].self)
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { CBORSingleDecoding(decoder: self) }
}

extension CBORValue {
    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    fileprivate var byteString: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    fileprivate var double: Double? {
        switch self {
        case .double(let number): number
        case .float(let number): Double(number)
        case .unsigned(let number): Double(exactly: number)
        case .negative(let number): Int64(exactly: number).flatMap { Double(exactly: ~$0) }
        default: nil
        }
    }

    fileprivate func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        switch self {
        case .unsigned(let number): Number(exactly: number)
        case .negative(let number): Int64(exactly: number).flatMap { Number(exactly: ~$0) }
        default: nil
        }
    }
}

private struct CBORKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let entries: [CBORValue.Entry]
    let codingPath: [any CodingKey]
    /// The places of keys, for more than ``CBORNode/searched``.
    private let places: [String: Int]

    init(entries: [CBORValue.Entry], codingPath: [any CodingKey]) {
        (self.entries, self.codingPath) = (entries, codingPath)
        places =
            entries.count <= CBORNode.searched
            ? [:] : CBORNode.places(of: entries.lazy.map(\.key))
    }

    var allKeys: [Key] { entries.compactMap { Key(stringValue: $0.key) } }

    private func find(_ key: any CodingKey) -> CBORValue? {
        guard places.isEmpty else { return places[key.stringValue].map { entries[$0].value } }
        return entries.first { $0.key == key.stringValue }?.value
    }

    private func nested(_ key: any CodingKey) throws -> CBORDecoder {
        guard let value = find(key) else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "no field '\(key.stringValue)'"))
        }
        return CBORDecoder(value: value, codingPath: codingPath + [key])
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try nested(key).value == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try nested(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try nested(CBORKey.super) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
}

private struct CBORUnkeyedDecoding: UnkeyedDecodingContainer {
    let values: [CBORValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    private func next() throws -> CBORDecoder {
        let path = codingPath + [CBORKey(index: currentIndex)]
        guard currentIndex < values.count else {
            throw DecodingError.valueNotFound(
                Any.self, DecodingError.Context(codingPath: path, debugDescription: "the array has no more values"))
        }
        return CBORDecoder(value: values[currentIndex], codingPath: path)
    }

    mutating func decodeNil() throws -> Bool {
        guard try next().value == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try next().decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested>
    {
        let container = try next().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try next().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try next()
        currentIndex += 1
        return decoder
    }
}

private struct CBORSingleDecoding: SingleValueDecodingContainer {
    let decoder: CBORDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
}

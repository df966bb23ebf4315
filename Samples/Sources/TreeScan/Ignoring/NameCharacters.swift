/// The characters of a name: scalars of valid UTF-8, and other bytes as numbers above all scalars.
struct NameCharacters: Hashable, Sendable {
    /// The number that stands for the invalid byte 0.
    private static let invalid: UInt32 = 0x11_0000

    let values: [UInt32]

    /// Splits a name. O(n).
    init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard !bytes.allSatisfy({ $0 < 0x80 }) else {
            values = bytes.map(UInt32.init)
            return
        }
        var values: [UInt32] = []
        var index = 0
        while index < bytes.count {
            var decoder = UTF8()
            var rest = bytes[index...].prefix(4).makeIterator()
            if case .scalarValue(let scalar) = decoder.decode(&rest) {
                values.append(scalar.value)
                index += UTF8.width(scalar)
            } else {
                values.append(Self.invalid + UInt32(bytes[index]))
                index += 1
            }
        }
        self.values = values
    }
}

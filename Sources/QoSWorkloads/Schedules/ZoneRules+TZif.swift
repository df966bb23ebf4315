extension ZoneRules {
    /// Reads a file of the time zone database: version 2 or later (RFC 9636).
    ///
    /// The rule in the file's last line gives the transitions up to the year 2100.
    ///
    /// - Returns: `nil` for anything else than such a file.
    init?(tzif bytes: [UInt8]) {
        var reader = TZifReader(bytes)
        guard let old = reader.header(), old.version >= 0x32 else { return nil }
        reader.skip(old.count(timeBytes: 4))
        guard let header = reader.header() else { return nil }
        let times = (0..<header.times).map { _ in reader.integer(bytes: 8) }
        let kinds = (0..<header.times).map { _ in Int(reader.integer(bytes: 1) & 0xFF) }
        var offsets: [Int64] = []
        for _ in 0..<header.kinds {
            offsets.append(reader.integer(bytes: 4))
            reader.skip(2)
        }
        reader.skip(header.characters + header.leaps * 12 + header.standards + header.universals)
        guard !reader.failed, !offsets.isEmpty, kinds.allSatisfy({ $0 < offsets.count }),
            zip(times, times.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        var transitions = zip(times, kinds).map { Transition(time: $0, offset: offsets[$1]) }
        if let rule = PosixZoneRule(reader.footer()) {
            let last = transitions.last?.time ?? .min
            let from = transitions.isEmpty ? 1970 : CivilTime(secondsSince1970: last).year
            transitions += rule.transitions(years: from...max(from, 2100)).filter { $0.time > last }
        }
        self.init(first: offsets[0], transitions: Self.withoutRepetitions(transitions, first: offsets[0]))
    }

    /// Drops transitions that change a zone's name, and not its offset.
    private static func withoutRepetitions(_ transitions: [Transition], first: Int64) -> [Transition] {
        var (result, offset): ([Transition], Int64) = ([], first)
        for transition in transitions where transition.offset != offset {
            result.append(transition)
            offset = transition.offset
        }
        return result
    }
}

/// Reads the parts of a TZif file in their order.
private struct TZifReader {
    struct Header {
        var version: UInt8
        var universals: Int
        var standards: Int
        var leaps: Int
        var times: Int
        var kinds: Int
        var characters: Int

        /// The bytes of the data block behind the header.
        func count(timeBytes: Int) -> Int {
            times * timeBytes + times + kinds * 6 + characters + leaps * (timeBytes + 4) + standards + universals
        }
    }

    private let bytes: [UInt8]
    private var position = 0
    private(set) var failed = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func header() -> Header? {
        guard position + 44 <= bytes.count, bytes[position..<position + 4].elementsEqual("TZif".utf8) else {
            return nil
        }
        let version = bytes[position + 4]
        position += 20
        let counts = (0..<6).map { _ in Int(integer(bytes: 4)) }
        guard counts.allSatisfy({ 0...100_000 ~= $0 }) else { return nil }
        return Header(
            version: version, universals: counts[0], standards: counts[1], leaps: counts[2], times: counts[3],
            kinds: counts[4], characters: counts[5])
    }

    mutating func skip(_ count: Int) {
        position += count
        if position > bytes.count { failed = true }
    }

    /// Reads a big-endian number in two's complement.
    mutating func integer(bytes count: Int) -> Int64 {
        guard position >= 0, position + count <= bytes.count else {
            failed = true
            return 0
        }
        var value: Int64 = bytes[position] & 0x80 == 0 ? 0 : -1
        for byte in bytes[position..<position + count] { value = value << 8 | Int64(byte) }
        position += count
        return value
    }

    func footer() -> String {
        guard position < bytes.count else { return "" }
        let text = bytes[position...].drop { $0 == 0x0A }.prefix { $0 != 0x0A }
        return String(decoding: text, as: UTF8.self)
    }
}

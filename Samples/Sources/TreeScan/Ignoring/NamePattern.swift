/// A pattern of one name: `*`, `?`, `[…]`, and a backslash before a character that stands for itself.
struct NamePattern: Hashable, Sendable {
    /// One place of the pattern.
    private enum Token: Hashable {
        /// `*`: any number of characters.
        case anyText
        /// `?`: one character.
        case anyCharacter
        /// A character.
        case character(UInt32)
        /// `[…]`: one of these characters, or one that is none of them.
        case oneOf([ClosedRange<UInt32>], isNegated: Bool)
    }

    /// The pattern of every name.
    static let any = NamePattern(tokens: [.anyText])

    private let tokens: [Token]

    private init(tokens: [Token]) {
        self.tokens = tokens
    }

    /// Reads the part of a line between two slashes.
    init(_ bytes: ArraySlice<UInt8>) throws(IgnorePattern.Malformed) {
        var rest = NameCharacters(bytes).values[...]
        var tokens: [Token] = []
        while let value = rest.popFirst() {
            switch value {
            case "*": if tokens.last != .anyText { tokens.append(.anyText) }
            case "?": tokens.append(.anyCharacter)
            case "[": tokens.append(try Self.oneOf(&rest))
            case "\\":
                guard let next = rest.popFirst() else {
                    throw IgnorePattern.Malformed(reason: "nothing follows its last backslash")
                }
                tokens.append(.character(next))
            default: tokens.append(.character(value))
            }
        }
        self.tokens = tokens
    }

    /// Whether the pattern matches the whole name. O(length of the pattern × length of the name), at most.
    func matches(_ name: NameCharacters) -> Bool {
        let values = name.values
        var token = 0
        var place = 0
        var retry: (token: Int, place: Int)?
        while place < values.count {
            if token < tokens.count, tokens[token] == .anyText {
                retry = (token, place)
                token += 1
            } else if token < tokens.count, Self.matches(tokens[token], values[place]) {
                token += 1
                place += 1
            } else if let last = retry {
                retry = (last.token, last.place + 1)
                token = last.token + 1
                place = last.place + 1
            } else {
                return false
            }
        }
        return tokens[token...].allSatisfy { $0 == .anyText }
    }

    private static func matches(_ token: Token, _ value: UInt32) -> Bool {
        switch token {
        case .anyText: false
        case .anyCharacter: true
        case .character(let own): own == value
        case .oneOf(let ranges, let isNegated): ranges.contains { $0.contains(value) } != isNegated
        }
    }

    /// Reads the rest of a bracket. A `]` right behind its beginning is a character of it.
    private static func oneOf(_ rest: inout ArraySlice<UInt32>) throws(IgnorePattern.Malformed) -> Token {
        let isNegated = rest.first == "!" || rest.first == "^"
        if isNegated { rest.removeFirst() }
        var ranges: [ClosedRange<UInt32>] = []
        var isFirst = true
        while let value = rest.popFirst() {
            if value == "]", !isFirst { return .oneOf(ranges, isNegated: isNegated) }
            isFirst = false
            if value == "[", rest.first == ":", let named = namedRanges(&rest) {
                ranges += named
                continue
            }
            let low = value == "\\" ? try character(&rest) : value
            guard rest.first == "-", let next = rest.dropFirst().first, next != "]" else {
                ranges.append(low...low)
                continue
            }
            rest.removeFirst(2)
            let high = next == "\\" ? try character(&rest) : next
            guard low <= high else { throw IgnorePattern.Malformed(reason: "a range in its brackets runs backwards") }
            ranges.append(low...high)
        }
        throw IgnorePattern.Malformed(reason: "its bracket [ is not closed")
    }

    private static func character(_ rest: inout ArraySlice<UInt32>) throws(IgnorePattern.Malformed) -> UInt32 {
        guard let value = rest.popFirst() else {
            throw IgnorePattern.Malformed(reason: "its bracket [ is not closed")
        }
        return value
    }

    /// Reads a class such as `:alpha:]`; nil, with nothing read, if there is none of that name.
    private static func namedRanges(_ rest: inout ArraySlice<UInt32>) -> [ClosedRange<UInt32>]? {
        for (name, ranges) in classes {
            let text = NameCharacters((":" + name + ":]").utf8).values
            guard rest.starts(with: text) else { continue }
            rest.removeFirst(text.count)
            return ranges
        }
        return nil
    }

    private static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
    private static let upper: [ClosedRange<UInt32>] = [0x41...0x5A]
    private static let lower: [ClosedRange<UInt32>] = [0x61...0x7A]

    /// The classes of fnmatch(3) in the locale C.
    private static let classes: [String: [ClosedRange<UInt32>]] = [
        "alpha": upper + lower, "digit": digits, "alnum": digits + upper + lower, "upper": upper, "lower": lower,
        "space": [0x09...0x0D, 0x20...0x20], "blank": [0x09...0x09, 0x20...0x20],
        "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E], "xdigit": digits + [0x41...0x46, 0x61...0x66],
        "cntrl": [0x00...0x1F, 0x7F...0x7F], "print": [0x20...0x7E], "graph": [0x21...0x7E],
    ]
}

extension UInt32 {
    /// Whether a number is that of an ASCII character.
    fileprivate static func ~= (scalar: Unicode.Scalar, value: UInt32) -> Bool { value == scalar.value }
    fileprivate static func == (value: UInt32, scalar: Unicode.Scalar) -> Bool { value == scalar.value }
    fileprivate static func != (value: UInt32, scalar: Unicode.Scalar) -> Bool { value != scalar.value }
}

extension UInt32? {
    fileprivate static func == (value: UInt32?, scalar: Unicode.Scalar) -> Bool { value == scalar.value }
}

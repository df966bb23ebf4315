/// Paths of any bytes as text, and back.
///
/// A path of Linux is bytes, and a text of Swift is not. So a byte that belongs to no character stands in a text as `\xE9`.
/// People may type that, and also `\u{202E}` for a character that cannot be seen. A backslash before other letters is a
/// backslash; one before letters that look like these is doubled.
public enum PathText {
    private static let backslash = UInt8(ascii: "\\")

    /// Returns the bytes that a text means.
    ///
    /// - Parameter isPattern: Whether doubled backslashes stay, as they have a meaning of their own.
    public static func bytes(_ text: String, isPattern: Bool = false) -> [UInt8] {
        let source = Array(text.utf8)
        guard source.contains(backslash) else { return source }
        var bytes: [UInt8] = []
        var index = 0
        while index < source.count {
            guard source[index] == backslash else {
                bytes.append(source[index])
                index += 1
                continue
            }
            let run = source[index...].prefix { $0 == backslash }.count
            index += run
            guard let (meant, length) = escape(source[index...]) else {
                bytes += repeatElement(backslash, count: run)
                continue
            }
            let isEscape = run % 2 == 1
            let literal = isPattern ? run - (isEscape ? 1 : 0) : run / 2
            bytes += repeatElement(backslash, count: literal)
            if isEscape {
                bytes += meant
                index += length
            }
        }
        return bytes
    }

    /// Returns the text for some bytes: `bytes(_:)` of it gives them back.
    public static func text(_ bytes: [UInt8]) -> String { text(bytes) { String($0) } }

    /// Returns the text for an argument of a process: only its bytes that belong to no character are written as `\xE9`.
    /// What a person typed as such stays.
    public static func argument(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return scalars(bytes).map { scalar, byte in scalar.map { String($0) } ?? hexadecimal(byte) }.joined()
    }

    /// Returns the text for some bytes, with a text for each character.
    public static func text(_ bytes: [UInt8], _ character: (Unicode.Scalar) -> String) -> String {
        if !bytes.contains(backslash), bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        var text = ""
        var run = 0
        var position = 0
        for (scalar, byte) in scalars(bytes) {
            if scalar == "\\" {
                run += 1
                position += 1
                continue
            }
            let shown = scalar.map(character) ?? hexadecimal(byte)
            // A run is doubled if what follows would make the last one the begin of an escape, or is one itself.
            let isEscape =
                run > 0 && (scalar == nil || shown.utf8.first == backslash || escape(bytes[position...]) != nil)
            text += String(repeating: "\\", count: isEscape ? 2 * run : run) + shown
            run = 0
            position += scalar.map { UTF8.width($0) } ?? 1
        }
        return text + String(repeating: "\\", count: run)
    }

    private static func hexadecimal(_ byte: UInt8) -> String { "\\x" + String(byte, radix: 16, uppercase: true) }

    /// The characters of some bytes; none, with the byte, for each byte that belongs to none.
    private static func scalars(_ bytes: [UInt8]) -> [(Unicode.Scalar?, UInt8)] {
        var scalars: [(Unicode.Scalar?, UInt8)] = []
        scalars.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            var rest = bytes[position...].prefix(4).makeIterator()
            var decoder = UTF8()
            if case .scalarValue(let scalar) = decoder.decode(&rest) {
                scalars.append((scalar, bytes[position]))
                position += UTF8.width(scalar)
            } else {
                scalars.append((nil, bytes[position]))
                position += 1
            }
        }
        return scalars
    }

    /// What letters behind a backslash stand for, and their number: `xE9`, or `u{202E}`. Nil for others.
    private static func escape(_ letters: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        func number(_ digits: ArraySlice<UInt8>) -> UInt32? {
            guard (1...6).contains(digits.count), digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
                return nil
            }
            return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        }
        switch letters.first {
        case UInt8(ascii: "x"):
            let digits = letters.dropFirst().prefix(2)
            guard digits.count == 2, let byte = number(digits), byte >= 0x80 else { return nil }
            return ([UInt8(byte)], 3)
        case UInt8(ascii: "u"):
            let rest = letters.dropFirst()
            guard rest.first == UInt8(ascii: "{"), let end = rest.prefix(8).firstIndex(of: UInt8(ascii: "}")),
                let value = number(rest[(rest.startIndex + 1)..<end]), let scalar = Unicode.Scalar(value), value != 0
            else { return nil }
            return (Array(String(scalar).utf8), end - letters.startIndex + 1)
        default: return nil
        }
    }
}

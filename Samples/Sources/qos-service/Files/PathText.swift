internal import Hummingbird
internal import TreeScan

/// Paths in addresses: percent-encoded bytes, because names need not be UTF-8.
enum PathText {
    /// The longest path, in bytes.
    static let limit = 4096

    /// Returns the path that a parameter of a request names; nil without the parameter.
    ///
    /// - Throws: `ParameterError` for a path that could lead out of its folder, or is none.
    static func path(_ name: String, of request: Request) throws(ParameterError) -> RelativePath? {
        guard let text = value(of: name, in: request.uri.query ?? "") else { return nil }
        guard let bytes = decoded(text) else { throw .malformed }
        return try path(name, bytes)
    }

    /// Returns the path of the indexed folder that a parameter names, such as `/docs`, `docs/` or `/`; nil without it.
    ///
    /// - Throws: `ParameterError`, as above.
    static func folder(_ name: String, of request: Request) throws(ParameterError) -> RelativePath? {
        guard let text = value(of: name, in: request.uri.query ?? "") else { return nil }
        guard let bytes = decoded(text) else { throw .malformed }
        return try path(name, bytes.first == UInt8(ascii: "/") ? Array(bytes.dropFirst()) : bytes)
    }

    /// Returns the path of bytes.
    static func path(_ name: String, _ bytes: [UInt8]) throws(ParameterError) -> RelativePath {
        guard bytes.count <= limit else { throw .tooLong(name, limit: limit) }
        let trimmed = bytes.last == UInt8(ascii: "/") ? Array(bytes.dropLast()) : bytes
        let parts = trimmed.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { part in
            !part.isEmpty && part.count <= 255 && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
        }
        guard !bytes.contains(0), trimmed.isEmpty ? bytes.isEmpty : isSafe else { throw .notBelow(name) }
        return RelativePath(bytes: trimmed)
    }

    /// Returns a path as a parameter has it.
    static func encoded(_ path: RelativePath) -> String {
        path.bytes.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.properties.isAlphabetic && byte < 0x80 || (0x30...0x39).contains(byte)
            if isPlain || "/._-~".unicodeScalars.contains(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
    }

    private static func value(of name: String, in query: String) -> Substring? {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count == 2 ? parts[1] : "" }
        }
        return nil
    }

    private static func decoded(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = digit(rest.next()), let low = digit(rest.next()) else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}

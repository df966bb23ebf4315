internal import Sync
internal import TreeScan

/// The rules for names and paths that come from another machine.
enum NameRules {
    private static let depth = 256

    /// A path below the root: names that are none of `.`, `..` and empty, with single slashes between them.
    static func path(_ bytes: [UInt8]) throws(WireError) -> RelativePath {
        guard !bytes.isEmpty else { return .root }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count <= depth else { throw WireError("a path is too deep") }
        for part in parts { try check(part) }
        return RelativePath(bytes: bytes)
    }

    /// The name of an entry of a folder.
    static func name(_ bytes: [UInt8]) throws(WireError) -> [UInt8] {
        guard !bytes.contains(UInt8(ascii: "/")) else { throw WireError("a name has a slash") }
        try check(bytes[...])
        return bytes
    }

    /// The name of a temporary file of a pair.
    static func temporary(_ bytes: [UInt8], pair: String) throws(WireError) -> [UInt8] {
        guard bytes.starts(with: TemporaryName.prefix(pair: pair)) else {
            throw WireError("a name is not one of a temporary file of this pair")
        }
        return try name(bytes)
    }

    private static func check(_ name: ArraySlice<UInt8>) throws(WireError) {
        guard (1...255).contains(name.count), !name.contains(0), !name.elementsEqual(".".utf8),
            !name.elementsEqual("..".utf8)
        else { throw WireError("a name is empty, too long, '.' or '..', or has a zero byte") }
    }
}

internal import SafeFiles

/// A path below the root of a scan, as the kernel's bytes: names need not be valid UTF-8.
///
/// It has no leading and no trailing slash. The root itself is the empty path. Ordered by bytes (`memcmp`).
public struct RelativePath: Hashable, Sendable, Comparable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// The bytes, without a terminator.
    public let bytes: [UInt8]

    /// The root of the scan.
    public static let root = RelativePath(bytes: [])

    /// Makes a path from bytes that the kernel, or a store of such bytes, gave.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a path from text, for example `"src/main.swift"`.
    public init(_ text: String) {
        self.bytes = Array(text.utf8)
    }

    /// Makes a path from what a person typed, or from what `display` shows: `\xE9` is a byte.
    public init(argument text: String) {
        self.bytes = PathText.bytes(text)
    }

    /// Makes a path from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// The path as text for people. Bytes that are not UTF-8 are replaced by U+FFFD.
    public var description: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The path as text that cannot deceive. `RelativePath(argument:)` of it is the path again.
    ///
    /// Bytes that are not UTF-8 appear as `\xFF`. Characters that are invisible, or that turn the direction of writing,
    /// appear as `\u{202E}`.
    public var display: String {
        PathText.text(bytes) { scalar in
            scalar.isVisible ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }

    /// The last component.
    public var name: ArraySlice<UInt8> {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return bytes[...] }
        return bytes[(slash + 1)...]
    }

    /// The text after the last dot of the name in lower case, or nil when there is none; `.profile` has none.
    public var fileExtension: String? {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        let text = String(decoding: name[(dot + 1)...], as: UTF8.self)
        return text.isEmpty ? nil : text.lowercased()
    }

    /// The components from the root downwards; none for the root.
    public var components: [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "/"))
    }

    /// The folder that has this entry; the root for the root.
    public var parent: RelativePath { RelativePath(bytes: Array(bytes.dropLast(name.count + 1))) }

    /// Returns the path of the entry `name` in this folder.
    public func appending(_ name: [UInt8]) -> RelativePath {
        bytes.isEmpty ? RelativePath(bytes: name) : RelativePath(bytes: bytes + [UInt8(ascii: "/")] + name)
    }

    /// The half-open range of bytes of all paths below this folder, or nil for the root, which has no bound.
    public var subtree: (lower: [UInt8], upper: [UInt8])? {
        guard !bytes.isEmpty else { return nil }
        return (bytes + [UInt8(ascii: "/")], bytes + [UInt8(ascii: "/") + 1])
    }

    /// Compares by bytes.
    public static func < (left: RelativePath, right: RelativePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension Unicode.Scalar {
    /// Whether the character is visible and does not change the direction of writing. This excludes control, format and
    /// separator characters other than the space.
    fileprivate var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        case .spaceSeparator: self == " "
        default: true
        }
    }
}

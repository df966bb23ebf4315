/// One pattern of an ignore file, in the syntax of gitignore(5).
///
/// Names are bytes. Valid UTF-8 counts by characters, and any other byte is a character of its own.
struct IgnorePattern: Hashable, Sendable {
    /// A part of the pattern between two slashes.
    enum Segment: Hashable, Sendable {
        /// `**`: any number of names.
        case anyDepth
        /// A name.
        case name(NamePattern)
    }

    /// The reason why a line is no pattern.
    struct Malformed: Error, Hashable {
        let reason: String
    }

    /// The maximum length of a line, in bytes.
    static let lengthLimit = 4096

    /// Whether a match takes an entry back into the tree.
    let isNegated: Bool
    /// Whether only folders match.
    let matchesFoldersOnly: Bool
    /// Whether the pattern is compared with the path from the folder of its file, not with the name alone.
    let isAnchored: Bool
    private let segments: [Segment]

    /// Reads a line without its end; nil if it is empty or a comment.
    ///
    /// - Throws: `Malformed`.
    init?(line: ArraySlice<UInt8>) throws(Malformed) {
        guard line.count <= Self.lengthLimit else {
            throw Malformed(reason: "it is longer than \(Self.lengthLimit) bytes")
        }
        var text = Self.trimmed(line)
        guard let first = text.first, first != UInt8(ascii: "#") else { return nil }
        isNegated = first == UInt8(ascii: "!")
        if isNegated { text = text.dropFirst() }
        matchesFoldersOnly = text.last == UInt8(ascii: "/")
        if matchesFoldersOnly { text = text.dropLast() }
        isAnchored = text.contains(UInt8(ascii: "/"))
        if text.first == UInt8(ascii: "/") { text = text.dropFirst() }
        guard !text.isEmpty else { throw Malformed(reason: "it names nothing") }
        var segments: [Segment] = []
        for part in text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard !part.isEmpty else { throw Malformed(reason: "it has two slashes in a row") }
            guard !part.elementsEqual(".".utf8), !part.elementsEqual("..".utf8) else {
                throw Malformed(reason: "no entry has the name . or .., so it would match nothing")
            }
            if part.elementsEqual("**".utf8) {
                if segments.last != .anyDepth { segments.append(.anyDepth) }
            } else {
                segments.append(.name(try NamePattern(part)))
            }
        }
        // A last `**` matches all that is inside, and not the folder itself.
        if segments.count > 1, segments.last == .anyDepth { segments.append(.name(.any)) }
        self.segments = segments
    }

    /// Whether the pattern matches an entry.
    ///
    /// - Parameters:
    ///   - names: The names from the folder of the ignore file down to the entry.
    ///   - isFolder: Whether the entry is a folder.
    /// - Complexity: O(length of the pattern × length of the path), at most.
    func matches(_ names: ArraySlice<NameCharacters>, isFolder: Bool) -> Bool {
        if matchesFoldersOnly, !isFolder { return false }
        guard isAnchored else { return Self.matches(segments[...], names.suffix(1)) }
        return Self.matches(segments[...], names)
    }

    /// Compares by going back to the last `**` only: an earlier one could not do better.
    private static func matches(_ segments: ArraySlice<Segment>, _ names: ArraySlice<NameCharacters>) -> Bool {
        var segment = segments.startIndex
        var name = names.startIndex
        var retry: (segment: Int, name: Int)?
        while name < names.endIndex {
            if segment < segments.endIndex, case .anyDepth = segments[segment] {
                retry = (segment, name)
                segment += 1
            } else if segment < segments.endIndex, case .name(let pattern) = segments[segment],
                pattern.matches(names[name])
            {
                segment += 1
                name += 1
            } else if let last = retry {
                retry = (last.segment, last.name + 1)
                segment = last.segment + 1
                name = last.name + 1
            } else {
                return false
            }
        }
        return segments[segment...].allSatisfy { $0 == .anyDepth }
    }

    /// Returns the line without spaces at its end, unless a backslash is before them, and without a carriage return.
    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = line
        if text.last == UInt8(ascii: "\r") { text = text.dropLast() }
        while text.last == UInt8(ascii: " ") {
            let escapes = text.dropLast().reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            guard escapes.isMultiple(of: 2) else { break }
            text = text.dropLast()
        }
        return text
    }
}

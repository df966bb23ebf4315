internal import Glibc
internal import SafeFiles

/// Patterns that leave out entries of a tree, in the syntax of gitignore(5). They hold for the whole tree.
///
/// A pattern with a slash before its end counts from the root; another one matches names at any depth. Of several
/// patterns that match, the last one decides. Nothing comes back below a folder that is left out.
public struct ExcludeRules: Hashable, Sendable {
    /// The rules that leave out nothing.
    public static let none = ExcludeRules()

    /// The patterns, the weakest first. A byte that is no text is written as `\xE9`.
    public let patterns: [String]

    private let rules: [IgnorePattern]

    private init() {
        (patterns, rules) = ([], [])
    }

    /// Reads patterns, one in each text.
    ///
    /// - Throws: `ExcludeError` for a text that is no pattern: an entry that should stay here must not be sent.
    public init(_ patterns: [String]) throws(ExcludeError) {
        guard patterns.count <= IgnoreRules.countLimit else {
            throw ExcludeError("More than \(IgnoreRules.countLimit) patterns are too many. Put files into folders.")
        }
        var rules: [IgnorePattern] = []
        for text in patterns {
            do throws(IgnorePattern.Malformed) {
                guard let rule = try IgnorePattern(line: PathText.bytes(text, isPattern: true)[...]) else {
                    throw IgnorePattern.Malformed(reason: "it names nothing")
                }
                guard !text.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\n") }) else {
                    throw IgnorePattern.Malformed(reason: "it has more than one line")
                }
                rules.append(rule)
            } catch {
                throw ExcludeError("\(RelativePath(text).display) is no pattern: \(error.reason). Correct it.")
            }
        }
        (self.patterns, self.rules) = (patterns, rules)
    }

    /// Refuses patterns that name an entry by its whole path: they would match nothing, because patterns count from the
    /// folder.
    ///
    /// - Parameter folders: The absolute paths of the folders for which the patterns are.
    /// - Throws: `ExcludeError` with the pattern that is meant.
    public static func check(_ patterns: [String], for folders: [String]) throws(ExcludeError) {
        for pattern in patterns {
            let isNegated = pattern.hasPrefix("!")
            let path = isNegated ? pattern.dropFirst() : pattern[...]
            for folder in folders where folder.count > 1 && path.hasPrefix(folder + "/") {
                let rest = path.dropFirst(folder.count)
                guard rest.contains(where: { $0 != "/" }) else { continue }
                let shown = RelativePath(String(rest)).display
                throw ExcludeError(
                    "The pattern \(RelativePath(pattern).display) would match nothing: patterns count from the folder. "
                        + "Write \(isNegated ? "!" : "")\(shown)")
            }
        }
    }

    /// Reads the patterns of a file: one a line, without empty lines and those that begin with `#`.
    ///
    /// - Throws: `ExcludeError` if the file cannot be read, or a line of it is no pattern.
    public static func patterns(in file: String) throws(ExcludeError) -> [String] {
        let bytes: [UInt8]
        do throws(FileSystemFailure) {
            let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            let path = RelativePath(file)
            guard descriptor >= 0 else { throw FileSystemFailure(path: path, operation: "open", code: errno) }
            bytes = try OpenFile(owning: descriptor, path: path).read(limit: IgnoreRules.sizeLimit + 1)
        } catch {
            throw ExcludeError(
                "The patterns in \(file) cannot be read: \(SystemError.text(error.code)). Name a file that can.")
        }
        guard bytes.count <= IgnoreRules.sizeLimit else {
            throw ExcludeError("\(file) is longer than \(IgnoreRules.sizeLimit) bytes. Put files into folders.")
        }
        var patterns: [String] = []
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let lines = bytes[start...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            do throws(IgnorePattern.Malformed) {
                guard try IgnorePattern(line: line) != nil else { continue }
                patterns.append(PathText.argument(Array(line)))
            } catch {
                throw ExcludeError("Line \(index + 1) of \(file) is no pattern: \(error.reason). Correct it.")
            }
        }
        return patterns
    }

    /// Whether there are no patterns.
    public var isEmpty: Bool { rules.isEmpty }

    /// Whether the last pattern that matches an entry leaves it out. The folders above it are not looked at.
    ///
    /// - Complexity: O(patterns × length of the path).
    public func match(_ path: RelativePath, isFolder: Bool) -> Bool {
        guard !rules.isEmpty else { return false }
        let names = path.components.map { NameCharacters($0) }
        return rules.last { $0.matches(names[...], isFolder: isFolder) }.map { !$0.isNegated } ?? false
    }

    /// Whether an entry, or a folder above it, is left out.
    ///
    /// - Complexity: O(depth × patterns × length of the path).
    public func exclude(_ path: RelativePath, isFolder: Bool) -> Bool {
        guard !rules.isEmpty else { return false }
        return match(path, isFolder: isFolder)
            || path.bytes.indices.contains { index in
                path.bytes[index] == UInt8(ascii: "/")
                    && match(RelativePath(bytes: Array(path.bytes[..<index])), isFolder: true)
            }
    }
}

/// A text that is no pattern, or a file that holds none. Its text says what to do.
public struct ExcludeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failure and its remedy.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

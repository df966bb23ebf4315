internal import Glibc
internal import TreeScan

/// Patterns of fnmatch(3). One without a slash matches names at any place. One with a slash matches paths below the folder.
struct ExcludePatterns: Sendable {
    let patterns: [String]

    /// Whether any pattern matches the path.
    func contains(_ path: RelativePath) -> Bool {
        func matches(_ pattern: String, _ text: some Sequence<UInt8>, _ flags: Int32) -> Bool {
            let text = text.map { CChar(bitPattern: $0) } + [0]
            return unsafe fnmatch(pattern, text, flags) == 0
        }
        return patterns.contains { pattern in
            guard pattern.contains("/") else { return matches(pattern, path.name, 0) }
            let anchored = pattern.hasPrefix("/") ? String(pattern.dropFirst()) : pattern
            return matches(anchored, path.bytes, FNM_PATHNAME)
        }
    }
}

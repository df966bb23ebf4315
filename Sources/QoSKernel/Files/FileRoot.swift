/// The directory that stands for `/`: the real one, or a made tree in tests.
package struct FileRoot: Sendable, Hashable {
    /// The path without a trailing slash; empty for the real root.
    private let path: String

    /// The machine's own root.
    package static let real = FileRoot("/")

    /// - Parameter path: a directory that holds `proc` and `sys`.
    package init(_ path: String) {
        var path = path
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }

    /// The path of a file below the root.
    ///
    /// - Parameter absolute: as on a real machine, beginning with a slash.
    package func appending(_ absolute: String) -> String {
        path + absolute
    }
}

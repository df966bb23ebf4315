internal import Glibc
internal import Indexing

/// The default place of a folder's index.
struct IndexLocation: Equatable {
    /// The folder, absolute and without links, so each of its names leads to the same index.
    let folder: String

    /// `$XDG_STATE_HOME/qos-service/<hash>`, below `~/.local/state` by default; nil when there is no home either.
    let directory: String?

    init(folder: String, environment: [String: String]) {
        self.folder = Self.canonical(folder)
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.local/state" }
        let hash = Self.hash(self.folder)
        directory = (state ?? home).map { "\($0)/qos-service/\(hash)" }
    }

    /// Returns a path without links; the same path if it names nothing.
    static func canonical(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// Returns the hash of a path, in hexadecimal digits. It is the same in every run.
    static func hash(_ text: String) -> String { IndexLibrary.name(of: text) }
}

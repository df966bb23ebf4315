internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import Indexing
internal import SampleCommand

/// The place of the index.
struct LibraryOptions: ParsableArguments {
    @Option(
        help: "The folder of the index. (default: $XDG_DATA_HOME/qos-index, below ~/.local/share by default)",
        completion: .directory)
    var index: String?

    /// The indexes at that place.
    func library() throws -> IndexLibrary {
        if let index { return IndexLibrary(URL(fileURLWithPath: index).standardizedFileURL.path) }
        let environment = ProcessInfo.processInfo.environment
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return IndexLibrary(data + "/qos-index") }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw Failure("Neither XDG_DATA_HOME nor HOME is set. Name a place for the index with --index.")
        }
        return IndexLibrary(home + "/.local/share/qos-index")
    }

    /// The indexed folders; says which of their descriptions cannot be read.
    func entries(_ library: IndexLibrary) -> [IndexLibrary.Entry] {
        let (entries, problems) = library.entries()
        for problem in problems { complain(problem) }
        return entries
    }

    /// Returns an absolute path without links, or without more than the path of a folder that is gone.
    static func canonical(_ path: String) -> String {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        guard let real = unsafe realpath(absolute, nil) else { return absolute }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}

/// An error with a sentence for people.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

internal import Foundation

/// A new folder where the user keeps temporary files (`TMPDIR`), removed with all that is in it at the end of its life.
///
/// Any thread.
package final class TemporaryFolder: Sendable {
    /// Its absolute path.
    package let path: String

    /// Makes the folder.
    ///
    /// - Parameter name: what its name begins with.
    package init(_ name: String) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(name)-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The absolute path of an entry.
    package subscript(_ name: String) -> String { "\(path)/\(name)" }

    /// Creates or changes a file, with the folders above it.
    ///
    /// - Parameter isReplaced: whether a reader of the file sees either all of the old text or all of the new one.
    package func write(_ name: String, _ text: String = "", isReplaced: Bool = false) throws {
        let file = URL(fileURLWithPath: self[name])
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file, options: isReplaced ? .atomic : [])
    }

    /// Creates a program that any user may run.
    ///
    /// Another process writes it. With a descriptor of this process, a program that another test starts meanwhile could
    /// hold the file open for writing, and then nobody may run it (ETXTBSY).
    package func writeProgram(_ name: String, _ text: String) throws {
        let command = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\" \"${0%/*}\""
        let writer = try Process.run(
            URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", command, self[name], text])
        writer.waitUntilExit()
    }

    /// The text of a file.
    package func read(_ name: String) throws -> String {
        try String(contentsOfFile: self[name], encoding: .utf8)
    }
}

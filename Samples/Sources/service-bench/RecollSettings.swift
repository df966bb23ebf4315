import Foundation

/// The settings of recoll that a careful user would make for texts and sources.
///
/// With its defaults recoll starts `xdg-mime`, a chain of further programs, for each file with a suffix that it does
/// not know.
enum RecollSettings {
    /// Suffixes of texts that recoll does not know, or gives to another program.
    private static let texts = ["S", "expect", "go", "golden", "input", "mod", "out", "py", "s", "sum"]

    /// Writes the settings for the index of one folder.
    ///
    /// - Parameter place: The folder of the index.
    static func write(to place: String, for folder: String) throws {
        let settings = """
            topdirs = \(folder)
            loglevel = 2
            # A suffix alone tells the type: no process for a single file.
            usesystemfilecommand = 0
            # Formats that our index does not open either.
            noContentSuffixes+ = .bz2 .gif .gz .jpeg .png .tar .zip
            # No dictionary for spelling. Without aspell there is none in any case.
            noaspell = 1
            # Fewer and larger flushes than by default, which is 50.
            idxflushmb = 200

            """
        let types = texts.map { ".\($0) = text/plain\n" }.joined()
        for (name, text) in [("recoll.conf", settings), ("mimemap", types)] {
            try Data(text.utf8).write(to: URL(filePath: "\(place)/\(name)"))
        }
    }
}

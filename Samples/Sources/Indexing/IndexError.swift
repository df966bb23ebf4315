public import TreeScan

/// A failure to open an index, or to continue a pass.
public enum IndexError: Error, Sendable, CustomStringConvertible {
    /// The folder to index cannot be listed.
    case folder(TreeScanError)
    /// Another process, or another part of this one, has the index open.
    case inUse(directory: String, process: Int32?)
    /// The index's own folder cannot be made or written to.
    case directory(path: String, reason: String)
    /// The database belongs to another program.
    case notAnIndex(path: String)
    /// The index was made for another folder.
    case otherFolder(path: String, folder: String)
    /// The index was made by another version, or not at all.
    case outdated(path: String)
    /// The index was made without parts of words, and is to have them.
    case noSubstrings(path: String)
    /// The index was made for the word forms of other languages.
    case otherStemming(path: String, languages: [StemLanguage])
    /// The database is damaged.
    case damaged(path: String, detail: String)
    /// The files of the open index were removed, or others were put in their place.
    case lost(path: String)
    /// The database failed in another way.
    case database(path: String, detail: String)
    /// A pass over this index is under way.
    case passUnderWay
    /// The index was closed.
    case closed

    /// The failure and its remedy.
    public var description: String {
        switch self {
        case .folder(let error):
            error.description
        case .inUse(let directory, let process):
            "The index in \(directory) is in use by \(process.map { "process \($0)" } ?? "another process"). "
                + "Stop that process, or choose another place for this index."
        case .directory(let path, let reason):
            "The index folder \(path) cannot be used: \(reason). Make it writable, or choose another place."
        case .notAnIndex(let path):
            "\(path) is a database of another program and is left alone. Choose another place for the index, "
                + "or, if nothing needs that file, remove it and start again."
        case .otherFolder(let path, let folder):
            "\(path) is the index of \(folder). Choose another place for the index, or remove that file."
        case .outdated(let path):
            "The index \(path) was made by another version. It is made anew when its folder is indexed again."
        case .noSubstrings(let path):
            "The index \(path) was made without substrings. Remove the index, and make it again with substrings; the "
                + "files themselves stay as they are."
        case .otherStemming(let path, let languages):
            "The index \(path) was made "
                + (languages.isEmpty
                    ? "without word forms"
                    : "for the word forms of \(languages.map(\.rawValue).joined(separator: ", "))")
                + ". Remove the index, and make it again with the languages that you want; the files themselves stay as "
                + "they are."
        case .damaged(let path, let detail):
            "The index \(path) is damaged: \(detail). It can be moved aside and made anew from the files."
        case .lost(let path):
            "The index \(path) was removed while it was in use. It can be made anew from the files."
        case .database(let path, let detail):
            "The index \(path) cannot be used: \(detail). Check the disk and the rights, then start again."
        case .passUnderWay:
            "A pass over this index is under way. Wait until it ends."
        case .closed:
            "The index is closed. Open it again."
        }
    }
}

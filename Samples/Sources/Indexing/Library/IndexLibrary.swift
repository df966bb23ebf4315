internal import Foundation
internal import Glibc
internal import TreeScan

/// Several indexes, one for each folder, below one folder of their own.
///
/// Each index has a folder named by a hash of the indexed folder's path, with its database and `folder.json`. So there is
/// no common file that could be damaged, and each index can be used while another one is filled. Several processes may
/// use a library.
public struct IndexLibrary: Sendable {
    /// The folder of the indexes.
    public let directory: String

    /// Names a library. It need not exist.
    public init(_ directory: String) {
        self.directory = directory
    }

    /// One indexed folder.
    public struct Entry: Codable, Sendable, Hashable {
        /// The indexed folder, absolute and without links.
        public var folder: String
        /// Whether ignore files count.
        public var usesIgnoreFiles: Bool
        /// Whether the index also finds parts of words. Nil, as in old descriptions, is `false`.
        public var substrings: Bool?
        /// The languages whose word forms are found together. Nil, as in old descriptions, is none.
        public var stemming: [StemLanguage]?

        /// Makes an entry.
        public init(
            folder: String, usesIgnoreFiles: Bool = true, substrings: Bool? = nil, stemming: [StemLanguage]? = nil
        ) {
            self.folder = folder
            self.usesIgnoreFiles = usesIgnoreFiles
            self.substrings = substrings
            self.stemming = stemming
        }
    }

    /// The indexed folders, by their paths, and the errors of those whose description cannot be read.
    public func entries() -> (entries: [Entry], problems: [String]) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var entries: [Entry] = []
        var problems: [String] = []
        for name in names.sorted() {
            let path = "\(directory)/\(name)/folder.json"
            guard let data = FileManager.default.contents(atPath: path) else { continue }
            if let entry = try? JSONDecoder().decode(Entry.self, from: data), Self.name(of: entry.folder) == name {
                entries.append(entry)
            } else {
                problems.append("\(path) is damaged. Remove its folder, and add the indexed folder again.")
            }
        }
        return (entries.sorted { $0.folder < $1.folder }, problems)
    }

    /// The folder of a folder's index.
    public func directory(of folder: String) -> String {
        "\(directory)/\(Self.name(of: folder))"
    }

    /// Opens the index of a folder, and makes it if there is none.
    ///
    /// - Throws: `IndexError`, among others `inUse` while another process has it open.
    public func open(_ entry: Entry, options: IndexSettings = IndexSettings()) throws(IndexError) -> SearchIndex {
        var options = options
        if !entry.usesIgnoreFiles { options.scan.ignoreFiles = [] }
        options.substrings = entry.substrings ?? false
        options.stemming = entry.stemming ?? []
        if let own = FolderIdentity(path: directory) { options.scan.excludedFolders.insert(own) }
        let place = directory(of: entry.folder)
        let index = try SearchIndex(folder: entry.folder, directory: place, options: options)
        do {
            try JSONEncoder().encode(entry).write(to: URL(fileURLWithPath: place + "/folder.json"), options: .atomic)
        } catch {
            try? index.close()
            throw .directory(path: place, reason: "\(error.localizedDescription)")
        }
        return index
    }

    /// Removes the index of a folder. The folder itself stays as it is.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `IndexError.inUse` while another process has it open, or `directory`.
    public func remove(_ folder: String) throws(IndexError) -> Bool {
        let place = directory(of: folder)
        guard unsafe access(place + "/folder.json", F_OK) == 0 else { return false }
        // Nobody may open it until its files are gone.
        let lock = try IndexLock(directory: place)
        defer { withExtendedLifetime(lock) {} }
        do {
            // Its description first: a removal that is killed leaves nothing that looks like an index.
            try FileManager.default.removeItem(atPath: place + "/folder.json")
            try FileManager.default.removeItem(atPath: place)
        } catch {
            throw .directory(path: place, reason: "\(error.localizedDescription)")
        }
        return true
    }

    /// Returns the name of a folder's index: FNV-1a, 64 bits, in hexadecimal digits. It is the same in every run.
    public static func name(of folder: String) -> String {
        let hash = folder.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

/// The ignore rules that hold at one place of a walk: those of its folder and of the folders above it.
///
/// The first file name of the options outranks the second one, at any depth. Among files of one name the deepest one
/// with a matching pattern decides. That is the order of ripgrep.
struct IgnoreStack {
    /// The rules in one folder, by the number of the file's name.
    private typealias Level = [Int: IgnoreRules]

    private let fileNames: [[UInt8]]
    /// The names of the folders from the root to the place.
    private var names: [NameCharacters] = []
    /// The rules of the root and of each of those folders.
    private var levels: [Level] = []
    /// The files and lines that have no effect, the first hundred.
    private(set) var problems: [IgnoreProblem] = []

    /// Makes an empty stack. Without file names it does nothing.
    init(fileNames: [String]) {
        self.fileNames = fileNames.map { Array($0.utf8) }
    }

    /// Goes down into a folder, the root first, and reads its ignore files.
    mutating func enter(_ folder: OpenFolder) {
        guard !fileNames.isEmpty else { return }
        if folder.path != .root { names.append(NameCharacters(folder.path.name)) }
        var level: Level = [:]
        for (number, name) in fileNames.enumerated() {
            guard let rules = rules(name, in: folder), !rules.patterns.isEmpty else { continue }
            level[number] = rules
        }
        levels.append(level)
    }

    /// Goes up again.
    mutating func leave() {
        guard !levels.isEmpty else { return }
        levels.removeLast()
        if !names.isEmpty { names.removeLast() }
    }

    /// Whether an entry of the folder at the place is left out. O(patterns).
    func isIgnored(_ name: [UInt8], isFolder: Bool) -> Bool {
        guard levels.contains(where: { !$0.isEmpty }) else { return false }
        let path = names + [NameCharacters(name)]
        for number in fileNames.indices {
            for depth in levels.indices.reversed() {
                guard let rules = levels[depth][number] else { continue }
                if let isIgnored = rules.isIgnored(path[depth...], isFolder: isFolder) { return isIgnored }
            }
        }
        return false
    }

    /// Reads an ignore file; nil if there is none. A folder or a pipe of that name is none, and a link is not followed.
    private mutating func rules(_ name: [UInt8], in folder: OpenFolder) -> IgnoreRules? {
        let path = folder.path.appending(name)
        do throws(FileSystemFailure) {
            let bytes = try folder.read(name, limit: IgnoreRules.sizeLimit + 1)
            if bytes.count > IgnoreRules.sizeLimit {
                note(path, 0, "it is longer than \(IgnoreRules.sizeLimit) bytes; the rest is left out")
            }
            var found: [(Int, String)] = []
            let rules = IgnoreRules(Array(bytes.prefix(IgnoreRules.sizeLimit))) { found.append(($0, $1)) }
            for (line, reason) in found { note(path, line, reason) }
            return rules
        } catch {
            if !error.isVanished, error.code != FileSystemFailure.notAFile { note(path, 0, error.description) }
            return nil
        }
    }

    private mutating func note(_ path: RelativePath, _ line: Int, _ reason: String) {
        guard problems.count < IgnoreProblem.limit else { return }
        problems.append(IgnoreProblem(path: path, line: line, reason: reason))
    }
}

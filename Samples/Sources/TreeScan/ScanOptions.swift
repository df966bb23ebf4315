/// The limits of a scan, and the folders that it leaves out.
public struct ScanOptions: Sendable {
    /// Names of folders that are not entered, at any place in the tree.
    public var excludedNames: Set<String>

    /// Folders that are not entered, by identity rather than by path.
    public var excludedFolders: Set<FolderIdentity>

    /// Whether folders on other devices than the root's are left out.
    public var oneFileSystem: Bool

    /// The maximum number of nested folders, 1 or more. Each open one costs a descriptor.
    public var maximumDepth: Int

    /// Names of the files whose patterns leave out entries, the strongest first.
    ///
    /// The patterns of a file hold for its folder and everything below it. Their syntax is that of gitignore(5).
    public var ignoreFiles: [String]

    /// Makes options. By default `.git` is left out, other file systems are entered, 256 levels are walked, and no
    /// ignore file counts.
    public init(
        excludedNames: Set<String> = [".git"],
        excludedFolders: Set<FolderIdentity> = [],
        oneFileSystem: Bool = false,
        maximumDepth: Int = 256,
        ignoreFiles: [String] = []
    ) {
        self.excludedNames = excludedNames
        self.excludedFolders = excludedFolders
        self.oneFileSystem = oneFileSystem
        self.maximumDepth = max(1, maximumDepth)
        self.ignoreFiles = ignoreFiles
    }
}

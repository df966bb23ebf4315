/// What a scan leaves out.
public struct ScanOptions: Sendable {
    /// Names of folders that are not entered, wherever they stand.
    public var excludedNames: Set<String>

    /// Folders that are not entered, by what they are rather than by their path.
    public var excludedFolders: Set<FolderIdentity>

    /// Whether folders on other devices than the root's are left out.
    public var oneFileSystem: Bool

    /// How many folders may lie inside each other, 1 or more; each open one costs a descriptor.
    public var maximumDepth: Int

    /// Options; by default `.git` is left out, other file systems are entered and 256 levels are walked.
    public init(
        excludedNames: Set<String> = [".git"],
        excludedFolders: Set<FolderIdentity> = [],
        oneFileSystem: Bool = false,
        maximumDepth: Int = 256
    ) {
        self.excludedNames = excludedNames
        self.excludedFolders = excludedFolders
        self.oneFileSystem = oneFileSystem
        self.maximumDepth = max(1, maximumDepth)
    }
}

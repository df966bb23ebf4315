/// The passphrases of a repository. Each wraps the same master key in a file of its own, so none of them costs a new
/// backup.
///
/// The first one stands in the file `repository`, as it always did. Further ones stand in the folder `keys`. A passphrase
/// that leaked is not undone by a change: who has a copy of the old file and knows it has the master key.
extension Repository {
    /// A passphrase, as people name it.
    public struct Key: Sendable, Hashable {
        /// The name: `repository`, or the first digits of a hash.
        public let name: String
        /// Whether it opened the repository this time.
        public let isCurrent: Bool

        let path: String
    }

    /// All passphrases, the first one before the others.
    public func passphrases() throws -> [Key] {
        try ([folder.header] + folder.furtherKeys()).map { path in
            Key(name: Self.name(of: path), isCurrent: path == openedBy, path: path)
        }
    }

    /// Changes the passphrase that opened the repository.
    ///
    /// - Throws: `BackupError.emptyPassphrase`, or the failure of a system call. The old one then counts.
    public func changePassphrase(to passphrase: [UInt8], cost: PassphraseCost = .standard) throws {
        guard !passphrase.isEmpty else { throw BackupError.emptyPassphrase }
        let file = try RepositoryHeader(master: master, passphrase: passphrase, cost: cost).file()
        // The new file replaces the old one at once, so one of them opens the repository at any time.
        try folder.write(file, to: openedBy, .header)
    }

    /// Adds a passphrase.
    ///
    /// - Throws: `BackupError.emptyPassphrase`, or the failure of a system call.
    public func addPassphrase(_ passphrase: [UInt8], cost: PassphraseCost = .standard) throws -> Key {
        guard !passphrase.isEmpty else { throw BackupError.emptyPassphrase }
        let file = try RepositoryHeader(master: master, passphrase: passphrase, cost: cost).file()
        let path = folder.keys + "/" + Identifier(file: file).description
        try folder.write(file, to: path, .header)
        return Key(name: Self.name(of: path), isCurrent: false, path: path)
    }

    /// Removes the passphrase whose name begins with `text`. The one that opened the repository stays.
    ///
    /// The first one is replaced by a further one, so that the repository stays one.
    ///
    /// - Throws: `BackupError.unknownKey`, `.lastKey`, or the failure of a system call.
    public func removePassphrase(named text: String) throws {
        let keys = try passphrases()
        let matches = text.isEmpty ? [] : keys.filter { $0.name.hasPrefix(text) }
        guard let key = matches.first, matches.count == 1 else {
            throw BackupError.unknownKey(text, matches: matches.count)
        }
        guard !key.isCurrent else { throw BackupError.lastKey }
        if key.path == folder.header {
            try folder.write(try folder.read(openedBy), to: folder.header, .header)
            return try folder.storage.remove(openedBy, .header)
        }
        try folder.storage.remove(key.path, .header)
    }

    private static func name(of path: String) -> String { String(path.split(separator: "/").last?.prefix(10) ?? "") }
}

internal import Glibc
internal import TreeScan

/// The names of the files of a repository. All of them are whole or absent.
struct RepositoryFolder: Sendable {
    /// A kind of files.
    enum Room: String, CaseIterable {
        case packs
        case index
        case snapshots
        /// Marks of packs that a prune is about to remove.
        case doomed
        case leases
        /// Files that are being written.
        case temporary
    }

    let path: String
    /// Called before each call that changes a file.
    var hook: StorageHook = { _ in 0 }

    /// Room for the small files of a prune on a full disk.
    var reserve: String { path + "/reserve" }
    /// From this number of packs on the reserve is large: a prune may need a mark for each.
    static let manyPacks = 64

    var header: String { path + "/repository" }
    /// The folder of further keys. It is made with the first one.
    var keys: String { path + "/keys" }

    func path(_ room: Room) -> String { path + "/" + room.rawValue }

    func path(_ room: Room, _ name: String) -> String {
        // 256 folders of packs, as a folder with very many entries is slow on some file systems.
        room == .packs ? path(room) + "/" + name.prefix(2) + "/" + name : path(room) + "/" + name
    }

    func path(_ room: Room, _ identifier: Identifier) -> String { path(room, identifier.description) }

    /// Makes the folders.
    func make() throws {
        for folder in [path] + Room.allCases.map(path(_:)) { try makeFolder(folder) }
    }

    /// The files of further keys.
    func furtherKeys() throws -> [String] { try names(keys).map { keys + "/" + $0 } }

    /// Writes the file of a further key.
    func writeKey(_ bytes: [UInt8], to path: String) throws {
        try makeFolder(keys)
        try write(bytes, to: path, .header)
    }

    /// Gives an entry that root made to the owner of the repository: else that user could not use it any more.
    static func giveToOwner(of repository: String, _ descriptor: Int32) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard unsafe stat(repository, &status) == 0, status.st_uid != 0 else { return }
        // A file system that refuses keeps root as the owner.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// Whether the folder of the snapshots is there. A repository without it is not whole: it may be a copy that lacks
    /// files, or a disk that is not there.
    var hasSnapshots: Bool {
        var status = stat()
        return unsafe lstat(path(.snapshots), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Occupies the room that `freeReserve` gives back, if it is less than the packs may need. Random bytes, so that no
    /// file system makes them smaller.
    func makeReserve(packs: Int) throws {
        var system = statvfs()
        // A mark and a lease take a block each, or an inode; and folders grow by blocks.
        let block = unsafe statvfs(path, &system) == 0 ? Int(system.f_frsize) : 0
        let needed = packs < Self.manyPacks ? max(64 << 10, min(16 * block, 1 << 20)) : 1 << 20
        guard (size(reserve) ?? 0) < needed else { return }
        try write(RepositoryKeys.random(needed), to: reserve, .reserve)
    }

    /// Makes the reserve larger, if the packs became many. Without room for that it stays. One that a prune is using is
    /// not made again.
    func growReserve(packs: Int) {
        if size(reserve) != nil { try? makeReserve(packs: packs) }
    }

    func freeReserve() throws {
        try remove(reserve, .reserve)
    }

    /// The files whose names are 64 digits.
    func files(_ room: Room) throws -> [Identifier] {
        guard room == .packs else { return try names(path(room)).compactMap { Identifier($0) } }
        return try names(path(.packs)).flatMap { folder in
            try names(path(.packs) + "/" + folder).compactMap { Identifier($0) }
        }
    }

    /// The names in a folder, without those that begin with a dot; sorted.
    func names(_ folder: String) throws -> [String] {
        guard let stream = unsafe opendir(folder) else {
            // A folder that was never needed, or was removed: nothing is in it.
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw BackupError.system("list", folder)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(stream) {
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
            let start = unsafe UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let name = unsafe String(cString: start)
            if !name.hasPrefix(".") { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw BackupError.system("list", folder) }
        return names.sorted()
    }

    /// Writes a file under the hash of its bytes.
    ///
    /// - Returns: The name.
    @discardableResult
    func add(_ bytes: [UInt8], to room: Room) throws -> Identifier {
        let name = Identifier(file: bytes)
        try write(bytes, to: path(room, name), room.place)
        return name
    }

    /// Writes a file safely.
    func write(_ bytes: [UInt8], to path: String, _ place: StorageCall.Place) throws {
        try withFolders {
            let calls = StorageCalls(place: place, hook: hook)
            try SafeFile.write(bytes, to: path, temporary: temporaryPath(), calls, owner: self.path)
        }
    }

    /// Begins a pack.
    func makePack() throws -> NewFile {
        try withFolders {
            try NewFile(temporaryPath(), for: path(.packs), StorageCalls(place: .packs, hook: hook), owner: path)
        }
    }

    /// Ends a pack: puts its bytes on the disk, gives it its name, and puts the name on the disk.
    ///
    /// - Throws: `BackupError.leaseLost` if a prune removed the file as that of a dead run.
    func finish(_ file: NewFile, as pack: Identifier) throws {
        try file.synchronize()
        let path = path(.packs, pack)
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex))
        try withFolders { try makeFolder(folder) }
        guard size(file.temporary) != nil else { throw BackupError.leaseLost }
        try file.rename(to: path)
        try SafeFile.synchronizeFolder(of: path, StorageCalls(place: .packs, hook: hook))
    }

    private func temporaryPath() -> String { path(.temporary, Hexadecimal.text(RepositoryKeys.random(16))) }

    /// Does something once more if a folder was missing, as copies may lack empty ones, or if a prune took a temporary
    /// file for that of a dead run.
    private func withFolders<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch BackupError.failed(_, _, ENOENT) {
            // The folder of the snapshots is not made again: without it the repository is not whole.
            for room in Room.allCases where room != .snapshots { try makeFolder(path(room)) }
            return try body()
        }
    }

    /// Removes a file of a room; it may be gone already.
    func remove(_ name: Identifier, from room: Room) throws {
        try remove(path(room, name), room.place)
    }

    /// Removes a file; it may be gone already.
    func remove(_ path: String, _ place: StorageCall.Place) throws {
        guard StorageCalls(place: place, hook: hook).allow(.remove), unsafe unlink(path) == 0 || errno == ENOENT else {
            throw BackupError.system("remove", path)
        }
    }

    /// The size of a file in bytes, or nil if there is none.
    func size(_ path: String) -> Int? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    private func makeFolder(_ folder: String) throws {
        let calls = StorageCalls(place: .folder, hook: hook)
        var status = stat()
        if unsafe stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        if calls.allow(.make), unsafe mkdir(folder, 0o700) == 0 {
            let made = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if made >= 0, folder != path { Self.giveToOwner(of: path, made) }
            if made >= 0 { close(made) }
            try SafeFile.synchronizeFolder(of: folder, calls)
        } else if errno != EEXIST {
            throw BackupError.system("make", folder)
        }
    }
}

extension RepositoryFolder.Room {
    /// The files of the room, as calls name them.
    var place: StorageCall.Place {
        switch self {
        case .packs: .packs
        case .index: .index
        case .snapshots: .snapshots
        case .doomed: .doomed
        case .leases: .leases
        case .temporary: .temporary
        }
    }
}

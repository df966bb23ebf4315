internal import Glibc
internal import SafeFiles
internal import TreeScan

/// A repository in a folder of this machine.
struct LocalStorage: RepositoryStorage {
    /// From this number of packs on the reserve is large: a prune may need a mark for each.
    static let manyPacks = 64
    private static let temporary = "temporary"

    let place: String
    /// Called before each call that changes a file.
    var hook: StorageHook = { _ in 0 }

    let touchMayRevive = false

    /// Room for the small files of a prune on a full disk.
    var reserve: String { place + "/reserve" }

    /// The folders that may be made again. The one of the snapshots is not: without it the repository is not whole.
    private var rooms: [String] {
        RepositoryFolder.Room.allCases.filter { $0 != .snapshots }.map { place + "/" + $0.rawValue }
    }

    func prepare() throws {
        for folder in [place, place + "/snapshots"] + rooms { try makeFolder(folder) }
    }

    /// Gives an entry that root made to the owner of the repository: else that user could not use it any more.
    static func giveToOwner(of repository: String, _ descriptor: Int32) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard unsafe stat(repository, &status) == 0, status.st_uid != 0 else { return }
        // A file system that refuses keeps root as the owner.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    var hasSnapshots: Bool {
        var status = stat()
        return unsafe lstat(place + "/snapshots", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    // MARK: The reserve

    /// Occupies the room that `freeReserve` gives back, if it is less than the packs may need. Random bytes, so that no
    /// file system makes them smaller.
    func makeReserve(packs: Int) throws {
        var system = statvfs()
        // A mark and a lease take a block each, or an inode; and folders grow by blocks.
        let block = unsafe statvfs(place, &system) == 0 ? Int(clamping: system.f_frsize) : 0
        let needed = packs < Self.manyPacks ? max(64 << 10, min(block, 64 << 10) * 16) : 1 << 20
        guard (size(reserve) ?? 0) < needed else { return }
        try write(RepositoryKeys.random(needed), to: reserve, .reserve)
    }

    /// Without room for more, the reserve stays. One that a prune is using is not made again.
    func growReserve(packs: Int) {
        if size(reserve) != nil { try? makeReserve(packs: packs) }
    }

    func freeReserve() throws {
        try remove(reserve, .reserve)
    }

    // MARK: Reading

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

    func files(below folder: String) throws -> [StoredFile] {
        try names(folder).flatMap { name in
            let path = folder + "/" + name
            if let size = size(path) { return [StoredFile(path: path, size: size)] }
            return try names(path).compactMap { name in
                let path = path + "/" + name
                return size(path).map { StoredFile(path: path, size: $0) }
            }
        }
    }

    func size(_ path: String) -> Int? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    func read(_ path: String, from offset: Int, count: Int?) throws -> [UInt8] {
        try SafeFile.read(path, from: offset, count: count)
    }

    func modified(_ path: String) -> Int64? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return FileTime.number(status.st_mtim)
    }

    // MARK: Writing

    func write(_ bytes: [UInt8], to path: String, _ place: StorageCall.Place) throws {
        try withFolders(for: path) {
            let calls = StorageCalls(place: place, hook: hook)
            try SafeFile.write(bytes, to: path, temporary: temporaryPath(), calls, owner: self.place)
        }
    }

    func makePack() throws -> any StoredPack {
        let packs = place + "/" + RepositoryFolder.Room.packs.rawValue
        return try withFolders(for: packs) {
            let calls = StorageCalls(place: .packs, hook: hook)
            return LocalPack(
                file: try NewFile(temporaryPath(), for: packs, calls, owner: place), storage: self, calls: calls)
        }
    }

    func remove(_ path: String, _ place: StorageCall.Place) throws {
        guard StorageCalls(place: place, hook: hook).allow(.remove), unsafe unlink(path) == 0 || errno == ENOENT else {
            throw BackupError.system("remove", path)
        }
    }

    func touch(_ path: String) {
        _ = unsafe utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW)
    }

    private func temporaryPath() -> String {
        place + "/" + Self.temporary + "/" + Hexadecimal.text(RepositoryKeys.random(16))
    }

    /// Does something once more if a folder was missing, as copies may lack empty ones, or if a prune took a temporary
    /// file for that of a dead run.
    fileprivate func withFolders<Result>(for path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch BackupError.failed(_, _, ENOENT) {
            for room in rooms { try makeFolder(room) }
            // That of further keys is made with the first one.
            let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
            if folder == place + "/keys" { try makeFolder(folder) }
            return try body()
        }
    }

    fileprivate func makeFolder(_ folder: String) throws {
        let calls = StorageCalls(place: .folder, hook: hook)
        var status = stat()
        if unsafe stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        if calls.allow(.make), unsafe mkdir(folder, 0o700) == 0 {
            let made = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if made >= 0, folder != place { Self.giveToOwner(of: place, made) }
            if made >= 0 { close(made) }
            try SafeFile.synchronizeFolder(of: folder, calls)
        } else if errno != EEXIST {
            throw BackupError.system("make", folder)
        }
    }
}

/// A pack under a temporary name.
private struct LocalPack: StoredPack {
    let file: NewFile
    let storage: LocalStorage
    let calls: StorageCalls

    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws {
        try file.write(bytes, at: offset)
        file.startSynchronizing(bytes.count, at: offset)
    }

    /// Puts the bytes on the disk, then the name.
    func finish(as path: String) throws {
        try file.synchronize()
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex))
        try storage.withFolders(for: path) { try storage.makeFolder(folder) }
        guard storage.size(file.temporary) != nil else { throw BackupError.leaseLost }
        try file.rename(to: path)
        try SafeFile.synchronizeFolder(of: path, calls)
    }
}

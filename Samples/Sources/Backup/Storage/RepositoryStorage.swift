/// The place of a repository's files: a folder of this machine, or storage behind a network.
///
/// All paths begin with `place`. A file is whole or absent, also after a kill. Calls block their thread, and any thread
/// may make them. A file that is not there is `BackupError.failed` with the code `ENOENT`.
protocol RepositoryStorage: Sendable {
    /// The path of the folder, or the address.
    var place: String { get }

    /// Makes what a new repository needs.
    func prepare() throws

    /// The names in a folder, without those that begin with a dot; sorted. A folder that is not there has none.
    func names(_ folder: String) throws -> [String]

    /// The files in a folder and in the folders of it, in any order.
    func files(below folder: String) throws -> [StoredFile]

    /// The size of a file in bytes, or nil if there is none.
    func size(_ path: String) throws -> Int?

    /// Reads a range of a file, or all of it. The result is shorter if the file is.
    func read(_ path: String, from offset: Int, count: Int?) throws -> [UInt8]

    /// Writes a file. One that is there is replaced at once.
    func write(_ bytes: [UInt8], to path: String, _ place: StorageCall.Place) throws

    /// Begins a pack, whose name is not known yet.
    func makePack() throws -> any StoredPack

    /// Removes a file; it may be gone already.
    func remove(_ path: String, _ place: StorageCall.Place) throws

    /// The time of a file's last change, in nanoseconds since 1970, by the clock of the storage; nil if there is none.
    func modified(_ path: String) throws -> Int64?

    /// Makes the present the time of a file's last change. A file that is gone stays gone.
    func touch(_ path: String) throws

    /// Whether `touch` could bring a file back that somebody removes at the same moment.
    var touchMayRevive: Bool { get }

    /// Whether the folder of the snapshots is there. A repository without it is not whole: it may be a copy that lacks
    /// files, or a disk that is not there.
    var hasSnapshots: Bool { get throws }

    /// Occupies room for the small files of a prune on full storage, where storage can be full.
    func makeReserve(packs: Int) throws

    /// Makes the reserve larger, if the packs became many.
    func growReserve(packs: Int)

    /// Gives the room of the reserve back.
    func freeReserve() throws
}

/// A file of a storage.
struct StoredFile: Sendable {
    let path: String
    let size: Int

    /// The last component of the path.
    var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }
}

/// A pack that is being written. It is given up at the end of its life, unless it was finished.
protocol StoredPack: Sendable {
    /// Takes the next bytes.
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws

    /// Puts the pack under its name when all of it is safe.
    ///
    /// - Throws: `BackupError.leaseLost` if a prune removed it as that of a dead run.
    func finish(as path: String) throws
}

/// The names of the files of a repository.
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

    let storage: any RepositoryStorage
    /// Called before each call that changes a file.
    let hook: StorageHook

    var path: String { storage.place }
    var header: String { path + "/repository" }
    /// The folder of further keys. It is made with the first one.
    var keys: String { path + "/keys" }

    /// Finds the storage of a path, or of an address that begins with `s3:`. Opens nothing.
    ///
    /// - Throws: `BackupError.badAddress` or `.noCredentials`.
    init(path: String, hook: @escaping StorageHook) throws {
        self.hook = hook
        storage =
            S3Address.isMeant(by: path)
            ? S3Storage(S3Client(try S3Address(path), try S3Credentials.ofEnvironment()), hook: hook)
            : LocalStorage(place: path, hook: hook)
    }

    func path(_ room: Room) -> String { path + "/" + room.rawValue }

    func path(_ room: Room, _ name: String) -> String {
        // 256 folders of packs, as a folder with very many entries is slow on some file systems.
        room == .packs ? path(room) + "/" + name.prefix(2) + "/" + name : path(room) + "/" + name
    }

    func path(_ room: Room, _ identifier: Identifier) -> String { path(room, identifier.description) }

    /// The files of further keys.
    func furtherKeys() throws -> [String] { try storage.names(keys).map { keys + "/" + $0 } }

    /// The files whose names are 64 digits.
    func files(_ room: Room) throws -> [Identifier] {
        room == .packs
            ? try packs().map(\.pack) : try storage.names(path(room)).compactMap { Identifier($0) }
    }

    /// The packs and their sizes.
    func packs() throws -> [(pack: Identifier, size: Int)] {
        try storage.files(below: path(.packs)).compactMap { file in
            Identifier(file.name).map { ($0, file.size) }
        }
    }

    func read(_ path: String, from offset: Int = 0, count: Int? = nil) throws -> [UInt8] {
        try storage.read(path, from: offset, count: count)
    }

    func size(_ path: String) throws -> Int? { try storage.size(path) }

    /// Writes a file under the hash of its bytes.
    ///
    /// - Returns: The name.
    @discardableResult
    func add(_ bytes: [UInt8], to room: Room) throws -> Identifier {
        let name = Identifier(file: bytes)
        try storage.write(bytes, to: path(room, name), room.place)
        return name
    }

    func write(_ bytes: [UInt8], to path: String, _ place: StorageCall.Place) throws {
        try storage.write(bytes, to: path, place)
    }

    /// Removes a file of a room; it may be gone already.
    func remove(_ name: Identifier, from room: Room) throws {
        try storage.remove(path(room, name), room.place)
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

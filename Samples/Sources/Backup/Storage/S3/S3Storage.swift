internal import Glibc
internal import SafeFiles
internal import Synchronization

/// A repository in storage that speaks S3.
///
/// An object is whole or absent, and every later read and list sees it, as S3 promises since 2020. Such storage has no
/// folders. One object under `snapshots/` stands for that folder, so that a repository that lost its snapshots is told
/// from one that has none.
struct S3Storage: RepositoryStorage {
    /// Its name begins with a dot, so no list of names has it.
    private static let snapshotsMark = "/snapshots/.kept"

    private let client: S3Client
    private let hook: StorageHook

    let place: String
    /// A copy onto itself reads the object, and then writes it.
    let touchMayRevive = true

    init(_ client: S3Client, hook: @escaping StorageHook) {
        self.client = client
        self.hook = hook
        place = client.address.text
    }

    func prepare() throws {
        try write(
            Array("This object keeps the place of the snapshots.\n".utf8), to: place + Self.snapshotsMark, .folder)
    }

    // MARK: Lists

    func names(_ folder: String) throws -> [String] {
        let prefix = self.prefix(of: folder)
        let (objects, folders) = try list(prefix, delimiter: "/")
        let names = (objects.map(\.key) + folders).map { key in
            String(key.dropFirst(prefix.count).drop { $0 == "/" }.prefix { $0 != "/" })
        }
        return Set(names).filter { !$0.isEmpty && !$0.hasPrefix(".") }.sorted()
    }

    func files(below folder: String) throws -> [StoredFile] {
        try list(prefix(of: folder)).objects.map {
            StoredFile(path: client.address.path(of: $0.key), size: $0.size)
        }
    }

    func size(_ path: String) throws -> Int? { try object(path)?.size }

    func modified(_ path: String) throws -> Int64? { try object(path)?.modified }

    var hasSnapshots: Bool {
        get throws { try !list(prefix(of: place + "/snapshots"), most: 1).objects.isEmpty }
    }

    /// A list of one name. Unlike a HEAD, it says what is wrong with the bucket or the keys.
    private func object(_ path: String) throws -> S3Listing.Object? {
        let key = client.address.key(of: path)
        return try list(key, most: 1).objects.first { $0.key == key }
    }

    private func prefix(of folder: String) -> String {
        let key = client.address.key(of: folder)
        return key.isEmpty ? "" : key + "/"
    }

    private func list(
        _ prefix: String, delimiter: String? = nil, most: Int? = nil
    ) throws -> (objects: [S3Listing.Object], folders: [String]) {
        var objects: [S3Listing.Object] = []
        var folders: [String] = []
        var token: String?
        repeat {
            var call = S3Client.Call()
            call.query = [("list-type", "2"), ("encoding-type", "url"), ("prefix", prefix)]
            if let delimiter { call.query.append(("delimiter", delimiter)) }
            if let most { call.query.append(("max-keys", String(most))) }
            if let token { call.query.append(("continuation-token", token)) }
            guard let page = S3Listing(try client.send(call, "list").bytes), page.root == "ListBucketResult" else {
                throw BackupError.refused(place: place, detail: "it does not answer as S3 does. Check the address")
            }
            objects += page.objects
            folders += page.folders
            token = most == nil && page.next != token ? page.next : nil
        } while token != nil
        return (objects, folders)
    }

    // MARK: Objects

    func read(_ path: String, from offset: Int, count: Int?) throws -> [UInt8] {
        if let count, count <= 0 { return [] }
        var call = S3Client.Call(key: client.address.key(of: path))
        let end = count.map { String(offset.addingReportingOverflow($0 - 1).partialValue) } ?? ""
        let isPart = offset > 0 || count != nil
        if isPart { call.fields = [("range", "bytes=\(offset)-\(end)")] }
        let answer = try client.send(call, "read")
        // Nothing is behind the end.
        if answer.status == 416 { return [] }
        // Storage that does not know ranges sends all.
        guard isPart, answer.status == 200 else { return answer.bytes }
        return Array(answer.bytes.dropFirst(offset).prefix(count ?? .max))
    }

    func write(_ bytes: [UInt8], to path: String, _ place: StorageCall.Place) throws {
        guard StorageCalls(place: place, hook: hook).allow(.write) else { throw BackupError.system("write", path) }
        _ = try client.send(S3Client.Call(method: "PUT", key: client.address.key(of: path), body: bytes), "write")
    }

    func makePack() -> any StoredPack { S3Pack(storage: self) }

    func remove(_ path: String, _ place: StorageCall.Place) throws {
        guard StorageCalls(place: place, hook: hook).allow(.remove) else { throw BackupError.system("remove", path) }
        // A lease ends by itself: nobody waits for storage that is away.
        let call = S3Client.Call(method: "DELETE", key: client.address.key(of: path), mayWait: place != .leases)
        do {
            _ = try client.send(call, "remove")
        } catch BackupError.failed(_, _, ENOENT) {
            return
        }
    }

    func touch(_ path: String) throws {
        let key = client.address.key(of: path)
        var call = S3Client.Call(method: "PUT", key: key, mayWait: false)
        call.fields = [
            ("x-amz-copy-source", S3Signature.encode("/\(client.address.bucket)/\(key)", keeping: "/")),
            ("x-amz-metadata-directive", "REPLACE"),
        ]
        _ = try client.send(call, "touch")
    }

    // MARK: The reserve

    // Such storage has no disk that a repository alone could fill, and a marker needs no block.
    func makeReserve(packs: Int) {}
    func growReserve(packs: Int) {}
    func freeReserve() {}
}

/// A pack in memory, as the name and the hash of an object come before its bytes.
private final class S3Pack: StoredPack {
    private let storage: S3Storage
    private let bytes = Mutex<[UInt8]>([])

    init(storage: S3Storage) {
        self.storage = storage
    }

    func write(_ piece: ArraySlice<UInt8>, at offset: Int) {
        bytes.withLock { bytes in
            if bytes.isEmpty { bytes.reserveCapacity(PackFile.fullSize + TreeNode.longestBlob / 4) }
            bytes += piece
        }
    }

    func finish(as path: String) throws {
        let all = bytes.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
        try storage.write(all, to: path, .packs)
    }
}

import Foundation
import Glibc
import SampleTestSupport
import Testing
import TreeScan

@testable import Backup

/// The address of a server for tests, that `Scripts/s3-server` starts. Without one, tests that need it are skipped.
private let server = ProcessInfo.processInfo.environment["QOS_TEST_S3"]

@Suite("Signatures, addresses and answers of S3")
struct S3FormTests {
    private static let credentials = S3Credentials(
        keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", session: nil,
        region: "us-east-1")
    /// 24 May 2013, as in the examples of the vendor's documentation.
    private static let time = 1_369_353_600

    private func signature(of request: S3Signature.Request) throws -> String {
        let fields = S3Signature(credentials: Self.credentials).fields(
            of: request, host: "examplebucket.s3.amazonaws.com", at: Self.time)
        let field = try #require(fields.first { $0.name == "Authorization" }).value
        return String(try #require(field.split(separator: "=").last))
    }

    @Test("the examples of the documentation have the documented signatures")
    func examples() throws {
        var get = S3Signature.Request(method: "GET", path: "/test.txt")
        get.fields = [("Range", "bytes=0-9")]
        #expect(try signature(of: get) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        var put = S3Signature.Request(method: "PUT", path: "/test$file.text")
        put.fields = [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")]
        put.bodyHash = Identifier(file: Array("Welcome to Amazon S3.".utf8)).description
        #expect(try signature(of: put) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        var settings = S3Signature.Request(method: "GET", path: "/")
        settings.query = [("lifecycle", "")]
        #expect(try signature(of: settings) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        var list = S3Signature.Request(method: "GET", path: "/")
        list.query = [("prefix", "J"), ("max-keys", "2")]
        #expect(try signature(of: list) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test("an address has a host, a bucket and a prefix, and its paths and names belong together")
    func addresses() throws {
        let address = try S3Address("s3:HTTPS://Example.org:443//bucket/some//where/")
        #expect(address.text == "s3:https://Example.org/bucket/some/where")
        #expect(address.key(of: address.text + "/packs/ab") == "some/where/packs/ab")
        #expect(address.path(of: "some/where/packs/ab") == address.text + "/packs/ab")
        #expect(address.key(of: address.text) == "some/where")
        let whole = try S3Address("s3:http://[::1]:9000/bucket")
        #expect(whole.authority == "[::1]:9000" && whole.key(of: whole.text + "/index/x") == "index/x")
        #expect(whole.key(of: whole.text) == "" && whole.path(of: "index/x") == whole.text + "/index/x")
    }

    @Test(
        "an address that cannot be meant is refused with its form",
        arguments: [
            "s3:", "s3:bucket", "s3:https://host", "s3:https:///bucket", "s3:ftp://host/bucket", "s3:https://h/b?x=1",
            "s3:https://key:secret@host/bucket", "s3:https://host/bucket/../other", "s3:https://ho st/b",
        ])
    func badAddresses(text: String) {
        let error = #expect(throws: BackupError.self) { try S3Address(text) }
        #expect(
            error?.description.contains("is no address of a repository") == true
                && error?.description.contains("secret") == false)
    }

    @Test("keys come from the environment, and a missing one is named")
    func keys() throws {
        var environment = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": " "]
        #expect(throws: BackupError.noCredentials(variable: "AWS_SECRET_ACCESS_KEY")) {
            try S3Credentials.ofEnvironment(environment)
        }
        environment["AWS_SECRET_ACCESS_KEY"] = "secret\n"
        let keys = try S3Credentials.ofEnvironment(environment)
        #expect(keys.secret == "secret" && keys.region == "us-east-1" && keys.session == nil)
    }

    @Test("a list is read with names of any characters, sizes, times and the next page; an error with its fields")
    func lists() throws {
        let text = """
            <?xml version="1.0"?><ListBucketResult><Prefix>p/</Prefix>
            <NextContinuationToken>a&amp;b</NextContinuationToken>
            <Contents><Key>p/a%20b%2Bc+d</Key>
            <LastModified>2026-01-02T03:04:05.678Z</LastModified><Size>12</Size></Contents>
            <Contents><Key>p/x</Key><LastModified>nonsense</LastModified><Size>-x</Size></Contents>
            <CommonPrefixes><Prefix>p/sub/</Prefix></CommonPrefixes></ListBucketResult>
            """
        let list = try #require(S3Listing(Array(text.utf8)))
        #expect(list.objects.map(\.key) == ["p/a b+c d", "p/x"] && list.objects.map(\.size) == [12, 0])
        #expect(list.objects.map(\.modified) == [1_767_323_045_678_000_000, 0])
        #expect(list.folders == ["p/sub/"] && list.next == "a&b")
        let error = try #require(S3Listing(Array("<Error><Code>SlowDown</Code><Region>r</Region></Error>".utf8)))
        #expect(error.fields == ["Code": "SlowDown", "Region": "r"])
        #expect(S3Listing(Array("<html><p>busy".utf8)) == nil)
        #expect(S3Listing(Array("<html><p>busy</p></html>".utf8))?.root == "html")
    }
}

@Suite("A repository in storage of S3", .enabled(if: server != nil), .timeLimit(.minutes(5)))
struct S3Tests {
    private static func address(_ bucket: String = "repositories") -> String {
        "\(server ?? "")/\(bucket)/\(bucket)-\(UUID().uuidString)"
    }

    private static func storage(
        _ address: String, keyID: String? = nil, secret: String? = nil
    ) throws -> S3Storage {
        let known = try S3Credentials.ofEnvironment()
        let keys = S3Credentials(
            keyID: keyID ?? known.keyID, secret: secret ?? known.secret, session: nil, region: known.region)
        var patience = S3Client.Patience()
        // Only where nobody ever answers is there no need to wait.
        if address.contains("/slow/") { patience.silence = .milliseconds(300) }
        patience.pauses = [1, 1]
        return S3Storage(S3Client(try S3Address(address), keys, patience: patience)) { _ in 0 }
    }

    /// What runs leave in the repository only for a time.
    private func leftovers(_ world: BackupWorld) throws -> [String] {
        let folder = try world.open().folder
        return try ["temporary", "leases", "doomed"].flatMap { try folder.storage.names(folder.path + "/" + $0) }
    }

    @Test("all comes back, the second run stores nothing, and a prune removes what nobody needs")
    func roundTrip() async throws {
        let world = try BackupWorld(repository: Self.address())
        try world.makeZoo()
        let first = try await world.backUp()
        #expect(first.packs > 0 && first.problems == [])
        #expect(try await world.backUp().packs == 0)
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target).difference(from: TreePicture(world.source)) == [])
        #expect(try await world.verify() == [])
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
        try world.temporary.remove("source")
        try world.temporary.write("source/other", "only this")
        try await world.backUp()
        let repository = try world.open()
        try repository.forget(Array(try repository.snapshots().snapshots.dropLast()))
        let pruned = try await PruneRun(repository).run()
        #expect(pruned.removed > 0 && pruned.waiting == 0)
        #expect(try await world.verify() == [])
        #expect(try leftovers(world) == [])
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
    }

    @Test("it is one repository with its own passphrases, and no second one takes its place")
    func creation() async throws {
        let address = Self.address()
        #expect(throws: BackupError.notARepository(path: address)) {
            try Repository.open(at: address, passphrase: BackupWorld.passphrase)
        }
        let world = try BackupWorld(repository: address)
        #expect(throws: BackupError.notEmpty(path: address)) { _ = try BackupWorld(repository: address) }
        #expect(throws: BackupError.wrongPassphrase(path: address)) {
            try Repository.open(at: address, passphrase: [1])
        }
        let key = try world.open().addPassphrase([1], cost: .none)
        _ = try Repository.open(at: address, passphrase: [1])
        try world.open().changePassphrase(to: [2], cost: .none)
        try Repository.open(at: address, passphrase: [2]).removePassphrase(named: key.name)
        #expect(throws: BackupError.self) { try Repository.open(at: address, passphrase: [1]) }
    }

    @Test("a prune leaves marked packs to the next one while another run has a lease")
    func leases() async throws {
        let world = try BackupWorld(repository: Self.address())
        try world.makeSmallZoo()
        try await world.backUp()
        let repository = try world.open()
        try repository.forget(try repository.snapshots().snapshots)
        let lease = try Lease(.read, in: repository.folder)
        #expect(try await PruneRun(repository).run().waiting > 0)
        #expect(try lease.isHeld)
        lease.release()
        let pruned = try await PruneRun(repository).run()
        #expect(pruned.removed > 0 && pruned.waiting == 0)
        #expect(try !lease.isHeld)
        // A touch does not bring it back.
        let path = repository.folder.path(.leases, "gone")
        #expect(throws: BackupError.self) { try repository.folder.storage.touch(path) }
        #expect(try repository.folder.size(path) == nil)
    }

    @Test("a touch makes the present the time of a lease")
    func touch() throws {
        let storage = try Self.storage(Self.address())
        let path = storage.place + "/leases/a"
        try storage.write([1], to: path, .leases)
        let before = try #require(try storage.modified(path))
        var after = before
        let end = ContinuousClock.now + .seconds(20)
        // The clock of the storage may have whole seconds.
        while after == before, ContinuousClock.now < end {
            try storage.touch(path)
            after = try #require(try storage.modified(path))
        }
        #expect(after > before)
        #expect(try storage.read(path, from: 0, count: nil) == [1])
    }

    @Test("reads of ranges end where the object ends")
    func ranges() throws {
        let storage = try Self.storage(Self.address())
        let path = storage.place + "/packs/ab/abc"
        let bytes = (0..<100).map { UInt8($0) }
        try storage.write(bytes, to: path, .packs)
        #expect(try storage.read(path, from: 10, count: 5) == Array(bytes[10..<15]))
        #expect(try storage.read(path, from: 90, count: 50) == Array(bytes[90...]))
        #expect(try storage.read(path, from: 95, count: nil) == Array(bytes[95...]))
        #expect(try storage.read(path, from: 100, count: 5) == [])
        #expect(try storage.read(path, from: 0, count: 0) == [])
        #expect(try storage.size(path) == 100 && storage.size(path + "x") == nil)
        #expect(try storage.size(storage.place + "/packs/ab") == nil)
        #expect(try storage.names(storage.place + "/packs") == ["ab"])
        #expect(throws: BackupError.failed(path: path + "x", operation: "read", code: ENOENT)) {
            try storage.read(path + "x", from: 0, count: nil)
        }
    }

    @Test("a list of more than one page is whole")
    func pages() throws {
        let storage = try Self.storage(Self.address())
        let names = (0..<1005).map { String(10_000 + $0) }
        for name in names { try storage.write([], to: storage.place + "/doomed/" + name, .doomed) }
        #expect(try storage.names(storage.place + "/doomed") == names)
    }

    @Test(
        "what is wrong with keys, bucket, clock, room or network is said with what to do",
        arguments: [
            ("repositories", "wrong", nil, "AWS_ACCESS_KEY_ID"),
            ("repositories", nil, "wrong", "AWS_SECRET_ACCESS_KEY"),
            ("missing", nil, nil, "no bucket 'missing'"), ("skewed", nil, nil, "Set the clock"),
            ("full", nil, nil, "No space"), ("slow", nil, nil, "it is silent"),
        ])
    func failures(bucket: String, keyID: String?, secret: String?, text: String) throws {
        let storage = try Self.storage(Self.address(bucket), keyID: keyID, secret: secret)
        let error = #expect(throws: BackupError.self) {
            try storage.write([1, 2, 3], to: storage.place + "/index/a", .index)
        }
        #expect(error?.description.contains(text) == true, "\(error as Any)")
    }

    @Test("an address without a server is told as one")
    func noNetwork() throws {
        let error = #expect(throws: BackupError.self) {
            try Self.storage("s3:http://127.0.0.1:1/bucket/x").names("s3:http://127.0.0.1:1/bucket/x")
        }
        #expect(error?.description.contains("cannot be reached") == true, "\(error as Any)")
    }

    @Test("requests that fail for a moment, and answers that are cut, are repeated")
    func flaky() async throws {
        let world = try BackupWorld(repository: Self.address("flaky"))
        try world.makeSmallZoo()
        try await world.backUp()
        #expect(try await world.restore().problems == [])
        #expect(TreePicture(world.target).difference(from: TreePicture(world.source)) == [])
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
    }

    @Test(
        "a killed command leaves every snapshot whole, and the next one goes on",
        arguments: [
            ("backup", "leases.write"), ("backup", "packs.write"), ("backup", "index.write"),
            ("backup", "snapshots.write"), ("backup", "leases.remove"), ("prune", "doomed.write"),
            ("prune", "packs.remove"), ("prune", "index.remove"), ("prune", "doomed.remove"),
        ])
    func kills(command: String, point: String) async throws {
        let world = try BackupWorld(repository: Self.address())
        try world.makeSmallZoo()
        try await world.backUp()
        try world.temporary.write("source/new", bytes: SeededGenerator.noise(70_000, seed: 7))
        try world.temporary.remove("source/text")
        let repository = try world.open()
        if command == "prune" {
            // A pack that nobody needs any more.
            try world.temporary.write("source/waste", bytes: SeededGenerator.noise(300_000, seed: 8))
            try await world.backUp()
            try world.temporary.remove("source/waste")
            try await world.backUp()
            try repository.forget(Array(try repository.snapshots().snapshots.dropLast()))
        }
        let environment = [
            "QOS_BACKUP_PASSWORD": String(decoding: BackupWorld.passphrase, as: UTF8.self),
            "QOS_BACKUP_KILL_AT": point,
        ]
        let arguments = [command, "-r", world.repositoryPath] + (command == "backup" ? [world.source] : [])
        let killed = try CommandRun("qos-backup", arguments, environment: environment, in: world.temporary)
        #expect(killed.status == 128 + SIGKILL, "\(killed)")
        #expect(try await RepositoryCheck(repository, readingPercent: 100).run().problems == [])
        try await world.backUp()
        #expect(try await world.verify() == [])
        #expect(try await PruneRun(world.open()).run().waiting == 0)
        #expect(try leftovers(world) == [])
        #expect(try await world.verify() == [])
        #expect(try await RepositoryCheck(world.open(), readingPercent: 100).run().problems == [])
    }
}

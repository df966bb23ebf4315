import Backup
import CFileSystem
import Foundation
import Glibc
import SampleTestSupport
import TreeScan

/// A folder to save, a repository and a place to restore to, for one test.
final class BackupWorld: Sendable {
    static let passphrase = Array("correct horse".utf8)
    private static let clockLead: Int64 = 10_000_000_000

    let temporary: TemporaryFolder

    var source: String { temporary["source"] }
    let repositoryPath: String
    var target: String { temporary["target"] }

    /// Makes the folders, and a repository in one of them, or at an address.
    init(repository address: String? = nil) throws {
        temporary = try TemporaryFolder()
        repositoryPath = address ?? temporary["repository"]
        try temporary.makeFolder("source")
        _ = try Repository.create(at: repositoryPath, passphrase: Self.passphrase, cost: .none)
    }

    func open(before hook: StorageHook? = nil) throws -> Repository {
        try Repository.open(at: repositoryPath, passphrase: Self.passphrase, before: hook)
    }

    /// Compares a folder with the last snapshot.
    func verify(_ folder: String = "source") async throws -> [Difference] {
        var differences: [Difference] = []
        let repository = try open()
        let run = try VerifyRun(repository, repository.snapshot(named: "latest"), against: temporary[folder])
        let report = try await run.run(found: { differences.append($0) })
        guard report.damage.isEmpty, report.unreadable.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
        return differences
    }

    /// What runs leave in the repository only for a time.
    func leftovers() throws -> [String] {
        try ["temporary", "leases", "doomed"].flatMap { try files($0) }
    }

    /// Fills the folder with a few small entries of each kind.
    func makeSmallZoo() throws {
        try temporary.write("source/text", String(repeating: "words and words\n", count: 300))
        try temporary.write("source/folder/noise", bytes: SeededGenerator.noise(30_000, seed: 2))
        try temporary.makeSparse("source/folder/sparse", "head", size: 1 << 20)
        try temporary.makeLink("source/link", to: "text")
        try temporary.makePipe("source/pipe")
        try temporary.write("source/one", "one file")
        try link("source/one", "source/two")
    }

    /// Options with a clock that runs ten seconds ahead: no file is so new that it must be read again.
    var options: BackupOptions {
        var options = BackupOptions()
        let now = options.now
        options.now = { now() + Self.clockLead }
        return options
    }

    @discardableResult
    func backUp(_ options: BackupOptions? = nil) async throws -> BackupReport {
        try await BackupRun(open(), folder: source, options: options ?? self.options).run()
    }

    @discardableResult
    func restore(_ name: String = "target", _ options: RestoreOptions = RestoreOptions()) async throws -> RestoreReport
    {
        let repository = try open()
        return try await RestoreRun(
            repository, repository.snapshot(named: "latest"), to: temporary[name], options: options
        ).run()
    }

    /// The files of a room of the repository, by absolute path; sorted.
    func files(_ room: String = "") throws -> [String] {
        try temporary.files().filter { $0.hasPrefix("repository/" + room) }.map { temporary[$0] }.sorted()
    }

    /// Fills the folder with every kind of entry that is saved.
    func makeZoo() throws {
        try temporary.makeZoo(in: "source", large: 3 << 20)
        try temporary.makeSparse("source/sparse", "head", size: 5 << 20)
        try temporary.makeSparse("source/hole", "", size: 1 << 20)
        try link("source/plain.txt", "source/deep/hard")
        try temporary.writeFile(Array("source/\u{202E}odd".utf8))
        setAttribute("source/plain.txt", "user.note", [1, 0, 255])
        setAttribute("source/deep", "user.folder", Array("yes".utf8))
        try temporary.setTime("source/empty", 1_000_000_001, 123_456_789)
        try temporary.setTime("source/deep", -5, 7)
    }

    private func link(_ old: String, _ new: String) throws {
        guard unsafe Glibc.link(temporary[old], temporary[new]) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Gives a file the attribute of another.
    func copyAttribute(_ attribute: String, from old: String, to new: String) {
        var value = [UInt8](repeating: 0, count: 4096)
        let count = unsafe getxattr(temporary[old], attribute, &value, value.count)
        if count >= 0 { _ = unsafe setxattr(temporary[new], attribute, value, count, 0) }
    }

    /// Where the file system has such attributes; elsewhere nothing happens, on both sides of the comparison.
    private func setAttribute(_ name: String, _ attribute: String, _ value: [UInt8]) {
        _ = unsafe setxattr(temporary[name], attribute, value, value.count, 0)
    }
}

import Foundation
import Glibc
import SampleTestSupport
import Synchronization
import Testing
import TreeScan

@testable import Sync

/// Lets renames fail from a moment on, or does something before each.
private final class RenameFault: Sendable {
    let before: @Sendable () -> Void
    private let state = Mutex(false)

    init(before: @escaping @Sendable () -> Void = {}) {
        self.before = before
    }

    var isOn: Bool { state.withLock { $0 } }

    func turnOn() { state.withLock { $0 = true } }
}

/// A side whose renames can fail, as on a disk without room for names.
private struct FaultyReplica: Replica {
    let local: any Replica
    let fault: RenameFault

    var side: Side { local.side }
    var place: String { local.place }
    var setsOwners: Bool { local.setsOwners }

    func begin(settingOwners: Bool) async throws -> Bool { try await local.begin(settingOwners: settingOwners) }
    func checkIsCurrent() async throws { try await local.checkIsCurrent() }
    func identity() async throws -> UInt64 { try await local.identity() }
    func temporaryName() -> [UInt8] { local.temporaryName() }
    func synchronize(_ changes: DiskChanges) async throws { try await local.synchronize(changes) }
    func digest(of entry: Observation) async throws -> [UInt8]? { try await local.digest(of: entry) }

    func folder(_ path: RelativePath) async throws -> any ReplicaFolder {
        FaultyFolder(local: try await local.folder(path), fault: fault)
    }

    func scan(at time: Int64, probing: Bool, leavingOut rules: ExcludeRules) async throws -> SideScan {
        try await local.scan(at: time, probing: probing, leavingOut: rules)
    }

    func attributes(of paths: [RelativePath]) async throws -> [RelativePath: AttributePrint] {
        try await local.attributes(of: paths)
    }
}

private struct FaultyFolder: ReplicaFolder {
    let local: any ReplicaFolder
    let fault: RenameFault

    var path: RelativePath { local.path }

    private func inner(_ folder: any ReplicaFolder) -> any ReplicaFolder { (folder as? FaultyFolder)?.local ?? folder }

    func status() async throws -> EntryStatus { try await local.status() }
    func status(_ name: [UInt8]) async throws -> EntryStatus? { try await local.status(name) }
    func makeLink(_ name: [UInt8], to target: [UInt8]) async throws { try await local.makeLink(name, to: target) }
    func makePipe(_ name: [UInt8]) async throws { try await local.makePipe(name) }
    func makeFolder(_ name: [UInt8]) async throws { try await local.makeFolder(name) }
    func remove(_ name: [UInt8], isFolder: Bool) async throws { try await local.remove(name, isFolder: isFolder) }
    func discard(_ name: [UInt8]) async { await local.discard(name) }
    func attributes(of name: [UInt8]) async throws -> AttributeSet? { try await local.attributes(of: name) }
    func setTime(_ name: [UInt8], _ modified: Int64) async { await local.setTime(name, modified) }

    func makeName(_ temporary: [UInt8], of name: [UInt8], in folder: any ReplicaFolder) async throws {
        try await local.makeName(temporary, of: name, in: inner(folder))
    }

    func rename(_ old: [UInt8], to new: [UInt8], in folder: any ReplicaFolder) async throws {
        guard !fault.isOn else { throw failure("rename to", new, ENOSPC) }
        fault.before()
        try await local.rename(old, to: new, in: inner(folder))
    }

    func exchange(_ temporary: [UInt8], with name: [UInt8], ifStill old: Observation) async throws -> NameExchange {
        try await local.exchange(temporary, with: name, ifStill: old)
    }

    func changeAttributes(
        of name: [UInt8], setting values: AttributeSet, removing names: [[UInt8]]
    ) async throws -> [[UInt8]] {
        try await local.changeAttributes(of: name, setting: values, removing: names)
    }

    func setMetadata(_ name: [UInt8], _ metadata: Metadata, kind: FileKind, owner: Bool) async throws {
        try await local.setMetadata(name, metadata, kind: kind, owner: owner)
    }
}

@Suite("Versions that get no name", .timeLimit(.minutes(5)))
struct RescueTests {
    @Test(
        "a version of the last moment that cannot have a name has one after the next run",
        arguments: [SyncStep.exchanged, .unnamed])
    func waits(step: SyncStep) async throws {
        let world = try SyncWorld()
        for name in ["f", "g", "h", "i"] { try world.temporary.write("a/\(name)", "old \(name)") }
        try await world.sync()
        let file = unsafe open(world.temporary["b/f"], O_WRONLY | O_APPEND)
        defer { close(file) }
        try world.temporary.remove("a/f")
        if step == .exchanged {
            // The name gets another file.
            guard unsafe link(world.temporary["a/g"], world.temporary["a/f"]) == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
        }
        let fault = RenameFault()
        let report = try await syncWithFault(world, fault) { reached in
            guard reached == step else { return }
            _ = unsafe write(file, " and more", 9)
            fault.turnOn()
        }
        #expect(fault.isOn && !report.skipped.isEmpty, "\(report)")
        #expect(try world.leftovers().count == 1)
        try await world.sync()
        #expect(try world.leftovers() == [])
        let files = try world.temporary.files()
        for side in ["a/f", "b/f"] {
            let texts = try files.filter { $0.hasPrefix(side) }.map { try world.temporary.read($0) }
            #expect(texts.contains("old f and more"), "\(side): \(files)")
        }
    }

    @Test("a file that changes right before it is renamed as on the other side is not taken for being in step")
    func changesBeforeRename() async throws {
        let world = try SyncWorld()
        try world.temporary.write("a/f", "old")
        try await world.sync()
        try world.temporary.rename("a/f", "a/g")
        let fault = RenameFault { try? world.temporary.write("b/f", "of the user") }
        let report = try await syncWithFault(world, fault) { _ in }
        #expect(report.skipped.count == 1 && report.renamed == 0, "\(report)")
        try await world.sync()
        let files = try world.temporary.files()
        for side in ["a/", "b/"] {
            let texts = try files.filter { $0.hasPrefix(side) }.map { try world.temporary.read($0) }
            #expect(texts.contains("of the user"), "\(side): \(files)")
        }
    }

    /// Runs once with a side B whose renames can fail. The archive is free again after it.
    private func syncWithFault(
        _ world: SyncWorld, _ fault: RenameFault, _ reached: @escaping @Sendable (SyncStep) -> Void
    ) async throws -> SyncReport {
        var options = world.options
        options.reached = reached
        let run = try SyncRun(a: world.a, place: world.b, options: options) { pair in
            FaultyReplica(local: try LocalReplica(.b, path: world.b, pair: pair), fault: fault)
        }
        return try await run.run()
    }
}

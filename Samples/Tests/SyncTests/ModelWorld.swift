import SampleTestSupport
import Testing
import TreeScan

@testable import Sync

/// Two folders in memory. They do the steps of a plan in the plainest way, and check what each step relies on.
struct ModelWorld {
    struct Entry: Equatable {
        enum Kind: Equatable {
            case folder
            case file(content: Int)
            case link(Int)
        }

        var kind: Kind
        var mode: UInt32
        var modified: Int64
        var changed: Int64
        var inode: UInt64

        var content: Int? {
            switch kind {
            case .folder: nil
            case .file(let content), .link(let content): content
            }
        }

        /// What both sides must agree about.
        var agreed: String {
            switch kind {
            case .folder: "folder \(mode)"
            case .file(let content): "file \(content) \(mode) \(modified)"
            case .link(let target): "link \(target) \(modified)"
            }
        }
    }

    typealias Tree = [RelativePath: Entry]

    var sides: Pair<Tree> = Pair(a: [:], b: [:])
    var archive: [RelativePath: ArchiveEntry] = [:]
    private var clock: Int64 = 1_700_000_000_123_456_789
    private var number = 0
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    // MARK: Changes

    /// Changes each side at random.
    mutating func change(_ count: Int) {
        for _ in 0..<count { changeOnce(Bool.random(using: &generator) ? .a : .b) }
        clock += 60_000_000_000
    }

    private mutating func changeOnce(_ side: Side) {
        clock += Int64.random(in: 1...50_000_000, using: &generator)
        let path = randomPath()
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...3: write(side, path, .file(content: next()))
        case 4: write(side, path, .link(next()))
        case 5: write(side, path, .folder)
        case 6:
            guard sides[side][path] != nil, sides[side][path]?.content == nil || path.bytes.count % 2 == 1 else {
                return
            }
            let mode = [0o700, 0o755, 0o644].randomElement(using: &generator) ?? 0 as UInt32
            sides[side][path]?.mode = mode
            sides[side][path]?.changed = clock
        case 7, 8: remove(side, path)
        default: rename(side, path, to: randomPath())
        }
    }

    private mutating func randomPath() -> RelativePath {
        let depth = Int.random(in: 1...3, using: &generator)
        let names = (0..<depth).map { _ in ["x", "y", "z", "x.y"].randomElement(using: &generator) ?? "" }
        return RelativePath(names.joined(separator: "/"))
    }

    private mutating func next() -> Int {
        number += 1
        return number
    }

    private mutating func write(_ side: Side, _ path: RelativePath, _ kind: Entry.Kind) {
        for folder in path.ancestors.reversed() where sides[side][folder]?.kind != .folder {
            write(side, folder, .folder)
        }
        if sides[side][path]?.kind == .folder, kind == .folder { return }
        remove(side, path)
        // Some programs keep the old time.
        let old = archive[path]?.sides[side].metadata.modified
        let keeps = old != nil && Int.random(in: 0..<8, using: &generator) == 0
        let inode = UInt64(next())
        sides[side][path] = Entry(
            kind: kind, mode: kind == .folder ? 0o755 : 0o644, modified: keeps ? old ?? clock : clock, changed: clock,
            inode: inode)
    }

    private mutating func remove(_ side: Side, _ path: RelativePath) {
        for below in sides[side].keys where below == path || below.ancestors.contains(path) { sides[side][below] = nil }
    }

    private mutating func rename(_ side: Side, _ path: RelativePath, to new: RelativePath) {
        guard var entry = sides[side][path], entry.kind != .folder, !new.ancestors.contains(path), new != path else {
            return
        }
        write(side, new, entry.kind)
        sides[side][path] = nil
        entry.changed = clock
        sides[side][new] = entry
    }

    // MARK: A sync

    func scan(_ side: Side) -> SideScan {
        var scan = SideScan()
        scan.time = clock
        scan.entries = sides[side].map { observation($0, $1) }.sorted { $0.path < $1.path }
        return scan
    }

    func observation(_ path: RelativePath, _ entry: Entry) -> Observation {
        let kind: FileKind
        var target: [UInt8] = []
        switch entry.kind {
        case .folder: kind = .directory
        case .file: kind = .regular
        case .link(let number):
            kind = .symbolicLink
            target = Array("\(number)".utf8)
        }
        let metadata = Metadata(
            mode: kind == .symbolicLink ? 0o777 : entry.mode, modified: kind == .directory ? 0 : entry.modified)
        // Many contents have the same length.
        let stamp = FileStamp(
            size: Int64((entry.content ?? 0) % 3), modified: entry.modified, changed: entry.changed, inode: entry.inode,
            device: 1)
        return Observation(path: path, kind: kind, metadata: metadata, target: target, stamp: stamp)
    }

    func plan(_ reconciler: Reconciler) async throws -> SyncPlan {
        var planner = Planner(
            reconciler: reconciler, date: "2026-01-31", archive: archive.values.sorted { $0.path < $1.path },
            a: scan(.a), b: scan(.b))
        let sides = sides
        return try await planner.plan(
            ContentLook(
                isEqual: { sides.a[$0.path]?.content == sides.b[$1.path]?.content },
                digest: { entry, side in sides[side][entry.path]?.content.map(Self.digest) }))
    }

    static func digest(_ content: Int) -> [UInt8] { Array("\(content)".utf8) }

    mutating func apply(_ plan: SyncPlan) {
        clock += 1_000_000_000
        for action in plan.actions { apply(action) }
        clock += 60_000_000_000
        // Every name that both sides agree about.
        archive = [:]
        for (path, a) in sides.a.sorted(by: { $0.key < $1.key }) {
            guard let b = sides.b[path] else { continue }
            let (first, second) = (observation(path, a), observation(path, b))
            var (stateA, stateB) = (
                ArchiveEntry.SideState(first, at: clock), ArchiveEntry.SideState(second, at: clock)
            )
            // Of some files the bytes alone tell whether they are as before.
            var digest: [UInt8]?
            if case .file(let content) = a.kind, Bool.random(using: &generator) {
                digest = Self.digest(content)
                stateA.isRacy = Bool.random(using: &generator)
                stateB.isRacy = Bool.random(using: &generator)
            }
            archive[path] = ArchiveEntry(
                path: path, kind: first.kind, target: first.target, sides: Pair(a: stateA, b: stateB), digest: digest)
        }
    }

    private mutating func apply(_ action: SyncAction) {
        let (side, path) = (action.side, action.path)
        let subject: RelativePath
        switch action.work {
        case .moveAside(let new), .rename(let new): subject = new
        default: subject = path
        }
        if let folder = subject.ancestors.first {
            #expect(sides[side][folder]?.kind == .folder, "\(action.work) \(subject): no folder above")
        }
        switch action.work {
        case .moveAside(let new):
            #expect(sides.a[new] == nil && sides.b[new] == nil, "\(new) is taken")
            #expect(sides[side][path]?.kind != .folder)
            let moved = sides[side].removeValue(forKey: path)
            sides[side][new] = moved
        case .rename(let new):
            #expect(sides[side][new] == nil, "\(new) is taken")
            let moved = sides[side].removeValue(forKey: path)
            sides[side][new] = moved
            describe(side, new, action.metadata)
        case .makeFolder:
            #expect(sides[side][path] == nil, "\(path) is taken")
            let inode = UInt64(next())
            sides[side][path] = Entry(
                kind: .folder, mode: action.metadata.mode, modified: clock, changed: clock, inode: inode)
        case .put:
            let source = sides[side.other][path]
            #expect(source != nil && source?.kind != .folder, "no source \(path)")
            #expect(sides[side][path].map { observation(path, $0) }?.stamp.inode == action.old?.stamp.inode)
            #expect(sides[side][path]?.kind != .folder)
            let inode = UInt64(next())
            sides[side][path] = source
            sides[side][path]?.inode = inode
            describe(side, path, action.metadata)
        case .link(let target, _):
            #expect(sides[side][target] != nil, "no file \(target)")
            sides[side][path] = sides[side][target]
        case .setAttributes: break
        case .describe: describe(side, path, action.metadata)
        case .delete:
            #expect(sides[side][path] != nil, "\(path) is gone already")
            #expect(!sides[side].keys.contains { $0.ancestors.contains(path) }, "\(path) is not empty")
            sides[side][path] = nil
        }
    }

    private mutating func describe(_ side: Side, _ path: RelativePath, _ metadata: Metadata) {
        if sides[side][path]?.kind != .folder { sides[side][path]?.modified = metadata.modified }
        if case .link = sides[side][path]?.kind {} else { sides[side][path]?.mode = metadata.mode }
        sides[side][path]?.changed = clock
    }
}

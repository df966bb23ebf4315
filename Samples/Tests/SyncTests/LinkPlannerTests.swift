import SampleTestSupport
import Testing
import TreeScan

@testable import Sync

/// Names of one file, in memory: the plan of their links alone.
private struct LinkModel {
    struct Place: Hashable {
        var inode: UInt64
        var content: Int
    }

    private static let names = ["a", "b", "c", "d", "e", "f"].map { RelativePath($0) }

    var sides: Pair<[RelativePath: Place]> = Pair(a: [:], b: [:])
    private var archive: [RelativePath: Pair<Place>] = [:]
    private var number: UInt64 = 0
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private mutating func next() -> UInt64 {
        number += 1
        return number
    }

    /// Changes both sides at random.
    mutating func change() {
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let side: Side = Bool.random(using: &generator) ? .a : .b
            let (one, other) = (
                Self.names.randomElement(using: &generator) ?? .root,
                Self.names.randomElement(using: &generator) ?? .root
            )
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: sides[side][one] = Place(inode: next(), content: Int(next()))
            // Another file of the same content.
            case 1, 2: if let old = sides[side][one] { sides[side][one] = Place(inode: next(), content: old.content) }
            case 3:
                guard let old = sides[side][one] else { continue }
                let content = Int(next())
                for (name, place) in sides[side] where place.inode == old.inode { sides[side][name]?.content = content }
            case 4: sides[side][one] = nil
            default: if let place = sides[side][one] { sides[side][other] = place }
            }
        }
    }

    /// What a plan of contents says about each name. A's content wins.
    private mutating func contents() -> [LinkedName] {
        var found: [LinkedName] = []
        for name in Self.names {
            let (a, b, old) = (sides.a[name], sides.b[name], archive[name])
            let origin: Side?
            switch (a, b) {
            case (nil, nil): continue
            case (let a?, let b?):
                let isChangedA = old.map { $0.a.content != a.content } ?? true
                origin = a.content == b.content ? nil : isChangedA ? .a : .b
            case (let place?, nil), (nil, let place?):
                let side: Side = a == nil ? .b : .a
                if let old, old[side].content == place.content {
                    sides[side][name] = nil
                    continue
                }
                origin = side
            }
            var linked = LinkedName(
                path: name, files: Pair(a: a.map(file), b: b.map(file)), origin: origin,
                archived: old.map { Pair(a: $0.a.inode, b: $0.b.inode) })
            if let origin { linked.files[origin.other] = nil }
            found.append(linked)
        }
        return found
    }

    /// The same for a mirror: A has all contents.
    private mutating func mirroredContents() -> [LinkedName] {
        for name in Self.names where sides.a[name] == nil { sides.b[name] = nil }
        return Self.names.compactMap { name in
            guard let a = sides.a[name] else { return nil }
            let b = sides.b[name].flatMap { $0.content == a.content ? $0 : nil }
            return LinkedName(
                path: name, files: Pair(a: file(a), b: b.map(file)), origin: b == nil ? .a : nil,
                archived: archive[name].map { Pair(a: $0.a.inode, b: $0.b.inode) })
        }
    }

    private func file(_ place: Place) -> LinkedName.File {
        let stamp = FileStamp(size: 1, modified: 1, changed: 1, inode: place.inode, device: 1)
        return LinkedName.File(
            Observation(path: "x", kind: .regular, metadata: Metadata(mode: 0o644), stamp: stamp))
    }

    /// Makes a plan and does it. Returns the number of its steps.
    mutating func sync(_ mode: SyncMode, _ place: String) -> Int {
        let names = mode == .mirror ? mirroredContents() : contents()
        let plan = LinkPlanner(names, mode: mode)
        let before = sides
        for side in Side.allCases {
            for name in names {
                let isWritten = name.origin == side.other && plan.steps[side][name.path] == nil
                guard isWritten || plan.steps[side][name.path] == .separate else { continue }
                guard let content = before[side.other][name.path]?.content else {
                    Issue.record("\(place): no content for \(name.path)")
                    continue
                }
                sides[side][name.path] = Place(inode: next(), content: content)
            }
            for name in names {
                guard case .join(let target) = plan.steps[side][name.path] else { continue }
                let wanted = before[name.origin ?? side][name.path]?.content
                #expect(sides[side][target]?.content == wanted, "\(place): \(name.path) becomes \(target)")
                sides[side][name.path] = sides[side][target]
            }
        }
        archive = [:]
        for name in Self.names {
            if let a = sides.a[name], let b = sides.b[name] { archive[name] = Pair(a: a, b: b) }
        }
        return plan.steps.a.count + plan.steps.b.count
    }

    /// The names of each file of a side.
    func groups(_ side: Side) -> Set<Set<RelativePath>> {
        Set(Dictionary(grouping: sides[side].keys) { sides[side][$0]?.inode }.values.map { Set($0) })
    }
}

@Suite("Plans of links")
struct LinkPlannerTests {
    @Test(
        "random worlds end with the same links on both sides, no content under a wrong name, and nothing left to do",
        arguments: SyncMode.allCases)
    func converges(mode: SyncMode) {
        for seed in 0..<2000 as Range<UInt64> {
            var world = LinkModel(seed: seed)
            for round in 0..<5 {
                world.change()
                let place = "seed \(seed), round \(round), \(mode)"
                let before = world.sides.a
                _ = world.sync(mode, place)
                #expect(world.sides.a.mapValues(\.content) == world.sides.b.mapValues(\.content), "\(place)")
                #expect(world.groups(.a) == world.groups(.b), "\(place)")
                if mode == .mirror { #expect(world.sides.a == before, "\(place)") }
                #expect(world.sync(mode, place) == 0, "\(place): a second run has work")
            }
        }
    }

    @Test("a link that one side has broken since the last run is broken on the other one, and a new one is made")
    func changes() {
        func name(_ path: String, _ a: UInt64, _ b: UInt64, archived: (UInt64, UInt64)?) -> LinkedName {
            func file(_ inode: UInt64) -> LinkedName.File {
                let stamp = FileStamp(size: 1, modified: 1, changed: 1, inode: inode, device: 1)
                return LinkedName.File(
                    Observation(path: "x", kind: .regular, metadata: Metadata(mode: 0o644), stamp: stamp))
            }
            return LinkedName(
                path: RelativePath(path), files: Pair(a: file(a), b: file(b)), origin: nil,
                archived: archived.map { Pair(a: $0.0, b: $0.1) })
        }
        let broken = LinkPlanner(
            [name("x", 1, 5, archived: (1, 5)), name("y", 2, 5, archived: (1, 5))], mode: .twoWay)
        #expect(broken.steps.a == [:] && broken.steps.b == ["y": .separate])
        let made = LinkPlanner(
            [name("x", 1, 5, archived: (1, 5)), name("y", 1, 6, archived: (2, 6))], mode: .twoWay)
        #expect(made.steps.a == [:] && made.steps.b == ["y": .join("x")])
        // An archive of a version that made a file of each name.
        let older = LinkPlanner(
            [name("x", 1, 5, archived: (1, 5)), name("y", 1, 6, archived: (1, 6))], mode: .twoWay)
        #expect(older.steps.b == ["y": .join("x")])
    }
}

import SampleTestSupport
import Testing
import TreeScan

@testable import Indexing

@Suite("Refreshes of one folder")
struct RefreshTests {
    let world: IndexWorld

    init() throws {
        world = try IndexWorld()
    }

    private func refresh(_ index: SearchIndex, _ folder: RelativePath) async throws -> SearchIndex.RefreshReport {
        try await index.refresh(folder, within: .seconds(1000))
    }

    @Test("new, changed and removed files of the folder are known after it, and others are left alone")
    func follows() async throws {
        for name in ["d/a.txt", "d/e/b.txt", "c.txt", "d0.txt"] { try world.folder.write(name, "alpha") }
        let index = try world.indexed()
        try world.folder.write("d/a.txt", "beta more")
        try world.folder.remove("d/e/b.txt")
        try world.folder.write("d/new/n.txt", "alpha")
        try world.folder.write("c2.txt", "alpha")
        let report = try await refresh(index, "d")
        #expect(report == SearchIndex.RefreshReport(isComplete: true, pending: 0))
        #expect(try index.hits("alpha") == ["c.txt", "d0.txt", "d/new/n.txt"])
        #expect(try index.hits("beta") == ["d/a.txt"])
        #expect(index.status.counts.files == 4 && index.status.counts.pending == 0)
        _ = try await refresh(index, .root)
        #expect(try index.hits("alpha") == ["c.txt", "c2.txt", "d0.txt", "d/new/n.txt"])
    }

    @Test("a folder that is gone loses its files, a file is refused, and an ignored folder has none")
    func edges() async throws {
        try world.folder.write("d/e/a.txt", "alpha")
        try world.folder.write("f.txt", "alpha")
        let index = try world.indexed()
        await #expect(throws: IndexError.self) { try await refresh(index, "f.txt") }
        try world.folder.write(".ignore", "/d")
        #expect(try await refresh(index, "d/e").isComplete)
        #expect(try index.hits("alpha") == ["f.txt"])
        #expect(try await refresh(index, "gone/deep").isComplete)
    }

    @Test("a pass that had scanned the folder before does not remove what the refresh found", arguments: 0..<8)
    func isKeptByPass(steps: Int) async throws {
        for number in 0..<40 { try world.folder.write("d\(number % 4)/\(number).txt", "alpha old\(number)") }
        let index = try world.open()
        let pass = try index.makePass()
        for _ in 0..<steps { _ = try pass.step(limit: BatchLimit(documents: 5, entries: 15)) }
        try world.folder.write("d1/late.txt", "zanzibar")
        try world.folder.write("d1/1.txt", "changed meanwhile")
        try world.folder.remove("d2/2.txt")
        #expect(try await refresh(index, "d1").isComplete)
        #expect(try index.hits("zanzibar") == ["d1/late.txt"])
        #expect(try index.hits("meanwhile") == ["d1/1.txt"])
        while try pass.step(limit: BatchLimit(documents: 5, entries: 15)) != .finished {}
        #expect(try index.hits("zanzibar") == ["d1/late.txt"])
        #expect(try index.hits("meanwhile") == ["d1/1.txt"])
        try index.runPass()
        #expect(try index.hitSets() == (try world.oracle()))
        #expect(try index.hits("alpha").count == 38)
    }

    @Test("a pass driven by tasks lets refreshes go first, and both find everything", arguments: [1, 2, 3] as [UInt64])
    func runsBesidePass(seed: UInt64) async throws {
        var random = WordWorld(seed: seed)
        _ = try random.populate(world.folder, files: 200)
        try world.folder.write("hot/0.txt", "hot0")
        let index = try world.open()
        let world = world
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await index.makePass().run(limit: BatchLimit(documents: 5, entries: 10)) }
            group.addTask {
                for number in 1...20 {
                    try world.folder.write("hot/\(number).txt", "hot\(number)")
                    #expect(try await index.refresh("hot", within: .seconds(1000)).isComplete)
                    #expect(try index.hits("\"hot\(number)\"", .fts) == ["hot/\(number).txt"])
                }
            }
            try await group.waitForAll()
        }
        for number in 0...20 { #expect(try index.hits("\"hot\(number)\"", .fts) == ["hot/\(number).txt"]) }
        try index.runPass()
        #expect(try index.hitSets() == (try world.oracle()), "seed \(seed)")
        try index.close()
        #expect(try SearchIndex.integrity(of: world.database) == ["ok"])
    }

    @Test("without time nothing is claimed, and a cancelled refresh gives its turn back")
    func endsEarly() async throws {
        try world.folder.write("d/a.txt", "alpha")
        let index = try world.open()
        #expect(try await index.refresh("d", within: .zero).isComplete == false)
        let task = Task { try await index.refresh("d", within: .seconds(1000)) }
        task.cancel()
        _ = await task.result
        #expect(try await refresh(index, "d").isComplete)
        #expect(try index.hits("alpha") == ["d/a.txt"])
    }

    @Test("a turn goes to the first that waits, and a wait ends at its deadline or with its task")
    func takesTurns() async throws {
        let turns = StepTurns()
        #expect(turns.takeIfFree() && !turns.takeIfFree())
        #expect(await !turns.take(until: .now))
        #expect(await !turns.take(until: .now + .milliseconds(5)))
        let waiting = Task { await turns.take() }
        waiting.cancel()
        #expect(await !waiting.value)
        let next = Task { await turns.take() }
        turns.give()
        #expect(await next.value)
        #expect(!turns.takeIfFree())
        turns.give()
        #expect(turns.takeIfFree())
    }
}

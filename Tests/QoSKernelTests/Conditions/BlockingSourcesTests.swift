import Synchronization
import Testing

@testable import QoSKernel

@Suite("Sources that may block", .tags(.kernel), .timeLimit(.minutes(5)))
struct BlockingSourcesTests {
    /// A source that blocks until the test lets it go on.
    private final class Hanging: Sendable {
        private let parker = Parker()
        private let calls = Atomic(0)

        var count: Int { calls.load(ordering: .acquiring) }

        func read() -> Int {
            calls.wrappingAdd(1, ordering: .acquiringAndReleasing)
            parker.park()
            return 2
        }

        func goOn() { parker.unpark() }
    }

    /// Reads until a source has answered: a machine under load may take longer than the patience.
    private func read(_ sources: BlockingSources<Int>, until wanted: Int...) -> [Int: Int] {
        var values: [Int: Int] = [:]
        while wanted.contains(where: { values[$0] == nil }) {
            for (index, answer) in sources.read(patience: 20_000_000).enumerated() {
                if case .value(let value) = answer { values[index] = value }
            }
        }
        return values
    }

    @Test("S1 all sources are read, in one call each time")
    func all() {
        let sources = BlockingSources<Int>([.init("a") { 1 }, .init("b") { 2 }])
        for _ in 0..<3 { #expect(read(sources, until: 0, 1) == [0: 1, 1: 2]) }
        #expect(sources.blocked.isEmpty)
    }

    @Test("S1 without sources a call returns at once")
    func none() { #expect(BlockingSources<Int>([]).read(patience: .max).isEmpty) }

    @Test("S1 a source that blocks does not hold up the others, and is named with the time since when")
    func blocks() throws {
        let hanging = Hanging()
        let sources = BlockingSources<Int>([.init("a") { 1 }, .init("b") { hanging.read() }, .init("c") { 3 }])
        for _ in 0..<3 {
            let values = read(sources, until: 0, 2)
            #expect(values == [0: 1, 2: 3])
        }
        let blocked = try #require(sources.blocked.first { $0.name == "b" })
        let later = try #require(sources.blocked.first { $0.name == "b" })
        #expect(later.nanoseconds >= blocked.nanoseconds)
        #expect(hanging.count == 1, "it is not read again while it blocks")
        hanging.goOn()
        #expect(read(sources, until: 1)[1] == 2, "the late value counts")
        while hanging.count < 2 { _ = sources.read(patience: 20_000_000) }
        hanging.goOn()
    }

    @Test("S1 all sources may block at once")
    func allBlock() {
        let hanging = (0..<4).map { _ in Hanging() }
        let sources = BlockingSources<Int>(hanging.map { one in .init("x") { one.read() } })
        for answer in sources.read(patience: 1_000_000) {
            if case .value = answer { Issue.record("a source that blocks has answered") }
        }
        while hanging.contains(where: { $0.count == 0 }) { _ = sources.read(patience: 1_000_000) }
        #expect(sources.blocked.count == 4)
        sources.end()
        for one in hanging { one.goOn() }
    }

    @Test("S1 the thread ends with the object")
    func ends() {
        var sources: BlockingSources<Int>? = BlockingSources([.init("a") { 1 }])
        weak let reference = sources
        if let present = sources { _ = read(present, until: 0) }
        sources = nil
        // A thread that is about to park holds the object for a moment.
        while reference != nil { _ = MonotonicClock.nanoseconds() }
    }
}

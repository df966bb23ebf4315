import QoSCore
import QoSWorkloads
import Testing

@testable import qos_service

@Suite("The lines of workloads in the terminal")
struct WorkloadLineTests {
    private struct Work: Workload {
        static let name: WorkloadName = "indexing"
        struct Parameters: Codable, Sendable {}
        func run(_ parameters: Parameters, in context: WorkloadContext<NoCheckpoint>) async throws -> WorkloadOutcome {
            .finished
        }
    }

    /// An item of a store in memory after some events.
    private func snapshot(
        _ request: WorkloadRequest = WorkloadRequest("indexing"), progress: WorkloadProgress? = nil,
        level: QoSLevel? = nil, pause: String? = nil
    ) async throws -> WorkloadSnapshot {
        let store = InMemoryWorkloadStore()
        let now = WallTime(secondsSince1970: 1_800_000_000)
        let id = try await store.insert([request], at: now)[0].item
        if let level { try await store.raise(id, to: level) }
        if let progress {
            let question = ClaimRequest(host: "h", workloads: [request.name])
            let claim = try #require(try await store.claim(question, at: now))
            try await store.save(nil, progress, under: claim.lease)
        }
        if let pause { try await store.setPaused(request.name, because: pause, at: now) }
        let host = try WorkloadHost(store: store, on: DetachedTasks(), workloads: [Work()])
        return try await host.snapshot()
    }

    /// The host does not run, and so needs no threads of its own.
    private struct DetachedTasks: WorkloadScheduler {
        func startWorkload(
            at qosClass: QoSClass, name: String, _ body: @escaping @Sendable () async -> Void
        ) -> Task<Void, Never> {
            Task.detached { await body() }
        }
        func raiseWorkload(_ task: Task<Void, Never>, to qosClass: QoSClass) {}
    }

    @Test("a running item shows class, bar, rate, time left and state")
    func running() async throws {
        let item = try #require(try await snapshot(progress: .init(50, of: 200, .files)).items.first)
        let line = WorkloadLine(item, rate: 5)
        #expect(line.plain == "[background]  indexing  25 %  5.0 files/s  30 s left  running")
        #expect(
            line.live(columns: 100) == "[background]  indexing  ███···········  25 %  5.0 files/s  30 s left  running")
    }

    @Test("a promoted item shows both classes, and one without a total neither a bar nor a time left")
    func promoted() async throws {
        let item = try #require(
            try await snapshot(progress: .init(5000), level: QoSLevel(.userInitiated)).items.first)
        #expect(
            WorkloadLine(item, rate: 812).plain == "[background → userInitiated]  indexing  812 items/s  running")
    }

    @Test("an item that waits shows its reason, and a pause of its workload")
    func waiting() async throws {
        let later = WorkloadRequest("indexing", schedule: .after(.seconds(60)), label: "rescan")
        let scheduled = try await snapshot(later)
        #expect(
            WorkloadLine(try #require(scheduled.items.first), rate: 0).plain
                == "[background]  indexing (rescan)  scheduled: due at 2027-01-15 08:01:00Z")
        let paused = try await snapshot(later, pause: "release day")
        #expect(
            WorkloadLine(try #require(paused.items.first), rate: 0, pauses: paused.pauses).plain
                == "[background]  indexing (rescan)  scheduled: paused: release day")
    }

    @Test("control characters are escaped, and no line is wider than the terminal", arguments: [0, 1, 10, 20, 40, 79])
    func width(columns: Int) async throws {
        let request = WorkloadRequest("indexing", schedule: .after(.seconds(60)), label: "a\u{1B}[2J漢字漢字\u{202E}b\n🦊🦊")
        let item = try #require(try await snapshot(request).items.first)
        let line = WorkloadLine(item, rate: 0)
        #expect(TerminalText.columns(of: line.live(columns: columns)) <= columns)
        for text in [line.plain, line.live(columns: 500)] {
            #expect(text.contains("a\\u{1b}[2J漢字漢字\\u{202e}b\\u{a}🦊🦊"))
            #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
        }
    }

    @Test("columns count what a terminal shows")
    func counts() {
        #expect(TerminalText.columns(of: "abc") == 3)
        #expect(TerminalText.columns(of: "漢字") == 4)
        #expect(TerminalText.columns(of: "e\u{301}") == 1)
        #expect(TerminalText.cut("漢字漢字", toColumns: 5) == "漢字…")
        #expect(TerminalText.cut("abcdef", toColumns: 4) == "abc…")
        #expect(TerminalText.cut("abcd", toColumns: 4) == "abcd")
    }

    @Test("a block of lines replaces the one before, also a longer one")
    func blocks() {
        let style = TerminalStyle.live(columns: 20, isColored: false)
        #expect(style.render(["a", "b"], replacing: 0) == "\r\u{1B}[2Ka\n\r\u{1B}[2Kb")
        #expect(style.render(["a", "b"], replacing: 2) == "\u{1B}[1A\r\u{1B}[2Ka\n\r\u{1B}[2Kb")
        #expect(style.render(["a"], replacing: 3) == "\u{1B}[2A\r\u{1B}[2Ka\u{1B}[J")
        #expect(TerminalStyle.plain.render(["a", "b"], replacing: 2) == "a\nb\n")
        let colored = TerminalStyle.live(columns: 40, isColored: true).render(["[utility]  x"], replacing: 0)
        #expect(colored == "\r\u{1B}[2K\u{1B}[1;36m[utility]\u{1B}[0m  x")
    }

    @Test("the lines have the rates of running items, and few of many items")
    func manyItems() async throws {
        var work = WorkloadLines()
        let start = ContinuousClock.now
        for tick in 0..<40 {
            let progress = WorkloadProgress(100 + tick * 25, of: 10_000, .files)
            work.observe(try await snapshot(progress: progress), at: start + .milliseconds(250 * tick))
        }
        #expect(work.lines.count == 1)
        #expect(work.lines.first?.rate?.hasSuffix(" files/s") == true)
        #expect(work.lines.first?.timeLeft?.hasSuffix(" left") == true)
    }
}

import QoSCore
import QoSKernel
import QoSRuntime
import QoSRuntimeTestSupport
import QoSTesting
import Synchronization

/// Rounds until the time is up.
struct StressRun {
    private let options: StressOptions
    private let assistant: Assistant
    private let watchdog: Watchdog
    private let ledger = Ledger()

    init(_ options: StressOptions) throws {
        self.options = options
        assistant = try Assistant()
        watchdog = try Watchdog(limit: options.limit)
    }

    /// - Returns: the exit status.
    func run() async throws -> UInt8 {
        let end = ContinuousClock.now + .seconds(options.seconds)
        var (round, seed) = (0, options.seed)
        var memory: [Int] = []
        var descriptors: Int?
        while round < options.rounds, ContinuousClock.now < end {
            try await play(seed: seed)
            let kept = await whatIsKept(descriptors)
            if ledger.hasViolation || kept != nil {
                Report.line("failed in round \(round), seed \(seed): \(kept ?? "see above")")
                return 1
            }
            descriptors = descriptors ?? ProcessFiles.descriptors()
            memory.append(ProcessFiles.residentKiB())
            (round, seed) = (round + 1, seed + 1)
        }
        let growth = Self.growth(memory)
        Report.line(
            "rounds \(round), seeds \(options.seed)..<\(seed), ended \(ledger.ended), "
                + "refused \(ledger.refused.load(ordering: .relaxed)), "
                + "resident \(memory.first ?? 0) to \(memory.last ?? 0) KiB, growth \(growth) KiB")
        guard growth <= Self.allowedGrowth else {
            Report.line("failed: memory grows")
            return 1
        }
        return 0
    }

    // MARK: A round

    private func play(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var schedulers = try (0..<Int.random(in: 1...3, using: &random)).map { _ in
            try QoSScheduler(configuration: .init(processors: Int.random(in: 1...4, using: &random)))
        }
        let own = schedulers
        if let process = QoSProcess.scheduler { schedulers.append(process) }
        watchdog.watch("seed \(seed)", ledger, schedulers)
        let world = try World(
            schedulers, moves: options.moves, ledger: ledger, assistant: assistant, random: &random)
        try await startPlayers(in: world, &random, endingEarly: own)
        watchdog.note("players have ended")
        while ledger.outstanding > 0 { await assistant.pause(1000) }
        watchdog.note("everything has ended")
        world.forgetTasks()
        try await Self.shutDown(own)
        watchdog.release()
    }

    /// Starts players in tasks and on threads, shuts some schedulers down meanwhile, and waits for the players.
    private func startPlayers(
        in world: World, _ random: inout SeededGenerator, endingEarly own: [QoSScheduler]
    ) async throws {
        let threads = Int.random(in: 0...2, using: &random)
        var players: [Task<Void, Never>] = []
        for _ in 0..<Int.random(in: 4...16, using: &random) {
            let (player, moves) = (Player(world, seed: random.next()), Int.random(in: 10...60, using: &random))
            let scheduler = world.schedulers[Int.random(in: 0..<world.schedulers.count, using: &random)]
            let isPlain = Int.random(in: 0..<4, using: &random) == 0
            let qosClass = QoSClass.allCases[Int.random(in: 0..<QoSClass.allCases.count, using: &random)]
            let task = Task.detached(executorPreference: isPlain ? nil : scheduler.executor(for: qosClass)) {
                var player = player
                await player.play(moves)
            }
            players.append(task)
            world.remember(task)
        }
        let outsiders = try (0..<threads).map { _ in
            let (player, moves) = (Player(world, seed: random.next()), Int.random(in: 10...40, using: &random))
            let hasEnded = Gate()
            let thread = try Thread(name: "outsider") {
                var player = player
                player.playOnThread(moves)
                hasEnded.open()
            }
            thread.detach()
            return hasEnded
        }
        // The last of several is left until the end.
        let early = own.dropLast().filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        await assistant.pause(Int.random(in: 0...50_000, using: &random))
        try await Self.shutDown(early)
        for player in players { await player.value }
        for outsider in outsiders { await outsider.passed() }
    }

    /// Shuts schedulers down at the same time.
    private static func shutDown(_ schedulers: [QoSScheduler]) async throws {
        try await withThrowingTaskGroup(of: ShutdownReport.self) { group in
            for scheduler in schedulers { group.addTask { try await scheduler.shutdown() } }
            for try await report in group where !report.isClean { Report.line("unclean shutdown: \(report)") }
        }
    }

    // MARK: What is kept

    /// Returns the objects that a round has not released within two seconds; `nil` without any.
    private func whatIsKept(_ descriptors: Int?) async -> String? {
        var kept: String?
        for _ in 0..<200 {
            kept = nil
            if ledger.live.load(ordering: .acquiring) != 0 {
                kept = "\(ledger.live.load(ordering: .acquiring)) submissions are not released"
            } else if !options.isProcessWide, ProcessFiles.schedulerThreads() > 0 {
                kept = "\(ProcessFiles.schedulerThreads()) threads of schedulers are left"
            } else if let descriptors, ProcessFiles.descriptors() > descriptors + Self.allowedDescriptors {
                kept = "\(ProcessFiles.descriptors()) descriptors, \(descriptors) before"
            }
            if kept == nil { return nil }
            await assistant.pause(10_000)
        }
        return kept
    }

    /// KiB from the second quarter of the rounds to the last, by their medians; 0 for few rounds.
    private static func growth(_ memory: [Int]) -> Int {
        guard memory.count >= 16 else { return 0 }
        let quarter = memory.count / 4
        func median(_ part: ArraySlice<Int>) -> Int { part.sorted()[part.count / 2] }
        return median(memory[(3 * quarter)...]) - median(memory[quarter..<(2 * quarter)])
    }

    /// The descriptors that Dispatch opens on its first use; a scheduler has five.
    private static let allowedDescriptors = 4

    /// KiB: what the C library's arenas and the threads' stacks may differ by.
    private static let allowedGrowth = 8 * 1024
}

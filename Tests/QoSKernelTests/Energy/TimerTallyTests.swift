import Glibc
import QoSCore
import QoSFileTestSupport
import Testing

@testable import QoSKernel

@Suite("The tally of timers", .tags(.kernel))
struct TimerTallyTests {
    @Test("S7 firings and wake-ups are counted by class, and the runtime's own apart")
    func counts() {
        let tally = TimerTally()
        tally.fired(for: .background, isWakeUp: true)
        tally.fired(for: .background, isWakeUp: false)
        tally.fired(for: nil, isWakeUp: true)
        #expect(tally.timers(for: .background) == .init(qosClass: .background, fired: 2, wakeUps: 1))
        #expect(tally.timers(for: nil) == .init(qosClass: nil, fired: 1, wakeUps: 1))
        #expect(tally.timers.reduce(0) { $0 + $1.fired } == 3)
        #expect(tally.timers.map(\.qosClass) == QoSClass.descending.map { $0 } + [nil])
    }

    @Test("S7 the counts of all tallies can be read from outside, through the page of the process")
    func shown() throws {
        let before = TimerTally.process.timers(for: .utility)
        TimerTally().fired(for: .utility, isWakeUp: true)
        #expect(TimerTally.process.timers(for: .utility).fired > before.fired)
        // Where the kernel gives no shared memory, the reason is shown.
        guard DiagnosticsMapping.process != nil else { return }
        let timers = try DiagnosticsReader(process: "self", id: getpid()).counts().timers
        let utility = try #require(timers.first { $0.qosClass == .utility })
        #expect(utility.fired > before.fired && utility.wakeUps > before.wakeUps)
    }

    /// The counts of the memory in a made tree, behind a link as `/proc` has it.
    private func read(
        _ words: [UInt64], link: String = "memfd:qos-diagnostics (deleted)"
    ) throws -> (timers: [EnergySnapshot.Timers], limits: [Int]) {
        let folder = try TemporaryFolder("qos-tally")
        try folder.write("proc/7/fd/0", "")
        try folder.write("proc/7/status", "Pid:\t7\n")
        let descriptor = unsafe open(folder["proc/7/fd/\(link)"], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        _ = unsafe write(descriptor, words, words.count * 8)
        try #require(unsafe symlink(link, folder["proc/7/fd/5"]) == 0)
        return try DiagnosticsReader(process: "7", id: 7, root: FileRoot(folder.path)).counts()
    }

    private var words: [UInt64] {
        typealias Header = DiagnosticsLayout.Header
        var words = [UInt64](repeating: 0, count: 64)
        words[Header.mark] = DiagnosticsLayout.mark
        words[Header.process] = 7
        words[Header.limits] = 0b1_0010
        for word in 1...2 * TimerCounts.owners { words[Header.timers + word - 1] = UInt64(word) }
        return words
    }

    @Test("S7 the memory is found by its name, and read by class")
    func page() throws {
        let counts = try read(words)
        #expect(counts.limits == [1, 4])
        #expect(counts.timers.first == .init(qosClass: .userInteractive, fired: 5, wakeUps: 11))
        #expect(counts.timers.last == .init(qosClass: nil, fired: 6, wakeUps: 12))
    }

    @Test("S7 memory of another name, version or process gives no counts, and a reason")
    func otherPages() throws {
        var (version, process) = (words, words)
        version[0] &+= 1 << 56
        process[2] = 6
        for (words, link, problem) in [
            (words, "memfd:other", .nothing(7)),
            (version, "memfd:qos-diagnostics", .otherVersion(DiagnosticsLayout.version + 1)),
            (process, "memfd:qos-diagnostics", .ofParent(7, parent: 6)),
        ] as [([UInt64], String, DiagnosticsReader.Problem)] {
            #expect(throws: problem) { try read(words, link: link) }
        }
        #expect(throws: DiagnosticsReader.Problem.self) { try read([], link: "memfd:qos-diagnostics") }
    }
}

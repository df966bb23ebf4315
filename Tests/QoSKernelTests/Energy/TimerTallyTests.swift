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
        let page = TimerTallyReader(process: "self", id: getpid(), root: .real).read()
        // Where the kernel gives no shared memory, the reason is shown.
        guard page.problem == nil else { return }
        let utility = try #require(page.timers.first { $0.qosClass == .utility })
        #expect(utility.fired > before.fired && utility.wakeUps > before.wakeUps)
    }

    /// A page in a made tree, behind a link as `/proc` has it.
    private func read(_ words: [UInt64], link: String = "memfd:qos-timers (deleted)") throws -> TimerTallyReader.Page {
        let folder = try TemporaryFolder("qos-tally")
        try folder.write("proc/7/fd/0", "")
        let descriptor = unsafe open(folder["proc/7/fd/\(link)"], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        _ = unsafe write(descriptor, words, words.count * 8)
        try #require(unsafe symlink(link, folder["proc/7/fd/5"]) == 0)
        return TimerTallyReader(process: "7", id: 7, root: FileRoot(folder.path)).read()
    }

    private var words: [UInt64] { [TimerTally.mark] + (1...UInt64(2 * TimerTally.owners)) + [0b1_0010] }

    @Test("S7 a page is found by its name, and read by class")
    func page() throws {
        let page = try read(words)
        #expect(page.problem == nil && page.limits == [1, 4])
        #expect(page.timers.first == .init(qosClass: .userInteractive, fired: 5, wakeUps: 11))
        #expect(page.timers.last == .init(qosClass: nil, fired: 6, wakeUps: 12))
    }

    @Test("S7 a page of another name, version or size gives no counts, and a reason")
    func otherPages() throws {
        let pages: [([UInt64], String)] = [
            (words, "memfd:other"), (words.dropLast(), "memfd:qos-timers"), (words + [0], "memfd:qos-timers"),
            ([TimerTally.mark + 1] + words.dropFirst(), "memfd:qos-timers"), ([], "memfd:qos-timers"),
        ]
        for (words, link) in pages {
            let page = try read(words, link: link)
            #expect(page.timers.isEmpty && page.limits.isEmpty && page.problem?.contains("process 7") == true)
        }
    }

    @Test("S7 a process whose descriptors are hidden gives a reason and a remedy")
    func hidden() throws {
        let tree = try MadeTree(["/proc/7/stat": ""])
        let page = TimerTallyReader(process: "7", id: 7, root: tree.root).read()
        #expect(page.timers.isEmpty && page.problem?.contains("run as its user") == true)
    }
}

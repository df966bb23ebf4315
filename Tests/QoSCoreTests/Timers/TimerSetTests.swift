import QoSCore
import Testing

@Suite("Prompt timers and others")
struct TimerSetTests {
    private func set(_ windows: [(name: String, deadline: UInt64, tolerance: UInt64, isPrompt: Bool)]) -> TimerSet<
        String
    > {
        var set = TimerSet<String>()
        for window in windows {
            set.insert(
                TimerWindow(deadline: window.deadline, tolerance: window.tolerance, isPrompt: window.isPrompt),
                window.name)
        }
        return set
    }

    /// The wake-ups of a driver that sleeps until `nextWake` each time.
    private func wakeUps(_ set: TimerSet<String>) -> [String] {
        var set = set
        var wakeUps: [String] = []
        while let now = set.nextWake {
            var fired = ""
            while let name = set.popExpired(now: now) { fired += name }
            wakeUps.append("\(now):\(fired)")
        }
        #expect(set.isEmpty)
        return wakeUps
    }

    @Test("S6 a single prompt timer fires at its deadline, another one at the end of its window")
    func single() {
        #expect(wakeUps(set([("a", 10, 5, true)])) == ["10:a"])
        #expect(wakeUps(set([("a", 10, 5, false)])) == ["15:a"])
    }

    @Test("S6 prompt timers whose windows overlap fire in one wake-up, at the latest of their deadlines")
    func shared() {
        #expect(wakeUps(set([("a", 10, 5, true), ("b", 12, 9, true), ("c", 16, 1, true)])) == ["12:ab", "16:c"])
        #expect(wakeUps(set([("a", 10, 5, true), ("b", 15, 0, true)])) == ["15:ab"])
    }

    @Test("S6 what else is due fires with a prompt timer, in the order of the deadlines")
    func mixed() {
        #expect(
            wakeUps(set([("low", 5, 100, false), ("a", 10, 5, true), ("later", 11, 100, false)])) == [
                "10:lowa", "111:later",
            ])
        #expect(wakeUps(set([("low", 5, 3, false), ("a", 10, 5, true)])) == ["8:low", "10:a"])
    }

    @Test("S6 however many prompt timers share a window, each fires in it, and a wake-up serves many")
    func many() {
        var all = TimerSet<UInt64>()
        for number in 0..<1_000 as Range<UInt64> {
            all.insert(TimerWindow(deadline: 1_000 + number * 7 % 1_000, tolerance: 2_000), 1_000 + number * 7 % 1_000)
        }
        var wakeUps = 0
        while let now = all.nextWake {
            wakeUps += 1
            while let deadline = all.popExpired(now: now) { #expect(deadline <= now && now <= deadline + 2_000) }
        }
        #expect(wakeUps <= 1_000 / 63 + 1)
    }

    @Test("a timer of either kind is cancelled by its name, once")
    func cancel() {
        var set = TimerSet<String>()
        let names = [true, false].map { isPrompt in
            set.insert(TimerWindow(deadline: 10, tolerance: 5, isPrompt: isPrompt), "\(isPrompt)")
        }
        #expect(set.count == 2 && set.nextDeadline == 10)
        #expect(names.map { set.cancel($0) } == ["true", "false"])
        #expect(set.cancel(names[0]) == nil && set.isEmpty && set.nextWake == nil)
    }

    @Test("a window that would end beyond the end of time ends there")
    func endOfTime() {
        #expect(TimerWindow(deadline: .max - 1, tolerance: 5).end == .max)
    }

    @Test("S6 a window takes tolerance and promptness from its class", arguments: QoSClass.allCases)
    func classes(_ qosClass: QoSClass) {
        let window = TimerWindow(deadline: 10_000, now: 2_000, tolerance: nil, of: qosClass)
        #expect(window.tolerance == TimerLeeway.tolerance(of: qosClass, delay: 8_000))
        #expect(window.isPrompt == (qosClass >= .default))
        #expect(TimerWindow(deadline: 10_000, now: 2_000, tolerance: 3, of: qosClass).tolerance == 3)
    }
}

extension EnergyReport: CustomStringConvertible {
    /// The report in lines: the process, the classes, the busiest threads, the power.
    public var description: String { lines().joined(separator: "\n") }

    /// The lines of the text form.
    ///
    /// - Parameter mostThreads: the number of threads that are listed.
    package func lines(mostThreads: Int = 20) -> [String] {
        let share =
            shareAtUtilityOrLower.map {
                "\(Self.percent($0)) of the workers' time at utility or lower (guideline while no user waits: \(Self.percent(Self.guideline)))"
            } ?? "the workers used no processor time"
        var lines = [
            "process",
            "  \(Self.fixed(processorSeconds, 3)) s of processor time in \(Self.fixed(seconds, 1)) s, \(Self.fixed(wakeUpsPerSecond, 1)) wake-ups/s",
            "  \(share)", "classes            processor s   share  wake-ups/s",
        ]
        for entry in classes {
            lines.append(
                "  \(Self.left("\(entry.qosClass)", 16))\(Self.right(Self.fixed(entry.processorSeconds, 3), 11))"
                    + "\(Self.right(Self.percent(entry.share), 8))\(Self.right(Self.fixed(entry.wakeUpsPerSecond, 1), 12))"
            )
        }
        lines.append("threads            processor s  wake-ups/s  preempted/s")
        for thread in threads.prefix(mostThreads) {
            lines.append(
                "  \(Self.left(thread.name, 16))\(Self.right(Self.fixed(thread.processorSeconds, 3), 11))"
                    + "\(Self.right(Self.fixed(thread.wakeUpsPerSecond, 1), 12))"
                    + "\(Self.right(Self.fixed(thread.involuntarySwitchesPerSecond, 1), 13))")
        }
        if threads.count > mostThreads { lines.append("  and \(threads.count - mostThreads) more") }
        if endedThreads > 0 { lines.append("  \(endedThreads) threads ended meanwhile") }
        lines.append("timers              firings/s  wake-ups/s")
        lines += timers.map { entry in
            "  \(Self.left(entry.qosClass.map { "\($0)" } ?? "the runtime", 16))"
                + "\(Self.right(Self.fixed(entry.firingsPerSecond, 1), 11))"
                + "\(Self.right(Self.fixed(entry.wakeUpsPerSecond, 1), 12))"
        }
        if let timerProblem { lines.append("  unknown: \(timerProblem)") }
        lines.append("power of the machine")
        lines += power.map { "  \(Self.left($0.name, 16))\(Self.right(Self.fixed($0.watts, 2), 11)) W" }
        if let powerProblem { lines.append("  unknown: \(powerProblem)") }
        return lines
    }

    private static func percent(_ share: Double) -> String { "\(fixed(share * 100, 1)) %" }

    /// Without Foundation: a number with that many decimals.
    private static func fixed(_ value: Double, _ decimals: Int) -> String {
        let factor = (0..<decimals).reduce(1.0) { product, _ in product * 10 }
        guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
        let scaled = Int64((abs(value) * factor).rounded())
        let (whole, part) = scaled.quotientAndRemainder(dividingBy: Int64(factor))
        let digits = "\(part)"
        return (value < 0 ? "-" : "") + "\(whole)." + String(repeating: "0", count: decimals - digits.count) + digits
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }
}

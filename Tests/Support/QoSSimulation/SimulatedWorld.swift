package import QoSCore
internal import QoSTesting

/// The complete input of a run of the simulation. The same world always runs the same way.
package struct SimulatedWorld: Sendable {
    package var cores: Int
    /// The constants of the table are divided by this, so that short worlds reach all rules.
    package var speedup = 1
    /// Constants of a test's own; else the table's.
    package var ownParameters: SchedulingParameters?
    /// Nanoseconds from the admission of a worker until it looks for its first job.
    package var wakeDelay: Int64 = 20_000
    /// A worker without a core still gets one part in so many of one: what the kernel leaks to the low classes.
    package var leakDivisor: Int64 = 256
    /// In the order of time.
    package var script: [ScriptEvent]

    /// Makes a world.
    package init(
        cores: Int, speedup: Int = 1, ownParameters: SchedulingParameters? = nil, wakeDelay: Int64 = 20_000,
        script: [ScriptEvent]
    ) {
        self.cores = cores
        self.speedup = speedup
        self.ownParameters = ownParameters
        self.wakeDelay = wakeDelay
        self.script = script
    }

    package var parameters: SchedulingParameters { ownParameters ?? .table(dividedBy: speedup) }

    /// Swift source of the world, to be pasted into a test.
    package var reproduction: String {
        let lines = script.map { "        \($0)," }.joined(separator: "\n")
        return "SimulatedWorld(cores: \(cores), speedup: \(speedup), script: [\n\(lines)\n    ])"
    }
}

extension SimulatedWorld {
    /// The contents of random worlds beside jobs.
    package enum Disturbance: String, Sendable, CaseIterable {
        case none
        case blocking
        case widths
        case cores
        case fences
        case raises
        case everything
    }

    /// A random world: bursts of jobs of every class, and disturbances.
    ///
    /// - Parameters:
    ///   - cores: How many; `nil` draws 1 to 8.
    ///   - longestLoop: How long work that fills all cores goes on at most, in gaps between two events.
    package init(
        seed: UInt64, events: Int, disturbance: Disturbance, cores ownCores: Int? = nil, longestLoop: Int64 = 80
    ) {
        var random = SeededGenerator(seed: seed)
        let drawn = [1, 2, 2, 3, 4, 8].randomElement(using: &random) ?? 2
        let cores = ownCores ?? drawn
        let speedup = [1, 10, 50].randomElement(using: &random) ?? 1
        self.init(cores: cores, speedup: speedup, script: [])
        var time: Int64 = 0
        let gap = Int64.random(in: 20_000...2_000_000, using: &random)
        var favourite = QoSClass.allCases.randomElement(using: &random) ?? .default
        let longest = Int64.random(in: 100_000...4_000_000, using: &random)
        while script.count < events {
            time += Int64.random(in: 0...gap, using: &random)
            if Int.random(in: 0..<40, using: &random) == 0 {
                favourite = QoSClass.allCases.randomElement(using: &random) ?? .default
            }
            let qosClass =
                Bool.random(using: &random) ? favourite : QoSClass.allCases.randomElement(using: &random) ?? .default
            if Int.random(in: 0..<80, using: &random) == 0 {
                let end = time + Int64.random(in: 1...longestLoop, using: &random) * gap
                let tasks = Int.random(in: 1...(2 * cores), using: &random)
                let length = Int64.random(in: longest / 8...longest, using: &random)
                script.append(
                    ScriptEvent(at: time, kind: .loop(qosClass, tasks: tasks, length: length, until: end)))
            }
            let kind =
                Int.random(in: 0..<12, using: &random) == 0
                ? Self.disturb(disturbance, qosClass, cores: cores, using: &random) : nil
            script.append(
                ScriptEvent(
                    at: time,
                    kind: kind ?? .arrive(qosClass, length: Int64.random(in: 1_000...longest, using: &random))))
        }
    }

    private static func disturb(
        _ disturbance: Disturbance, _ qosClass: QoSClass, cores: Int, using random: inout SeededGenerator
    ) -> ScriptEvent.Kind? {
        let other = QoSClass.allCases.randomElement(using: &random) ?? .default
        let (lower, higher) = (min(qosClass, other), max(qosClass, other))
        switch disturbance {
        case .none: return nil
        case .blocking: return .block(qosClass, nanoseconds: Int64.random(in: 1_000...20_000_000, using: &random))
        case .widths: return .width(qosClass, [0, 0, 1, 2, .max, .max].randomElement(using: &random) ?? .max)
        case .cores: return .cores(Int.random(in: 1...(2 * cores), using: &random))
        case .fences: return .fence(upTo: higher, holder: lower)
        case .raises: return .raise(lower, to: higher)
        case .everything:
            let kinds: [Disturbance] = [.blocking, .widths, .cores, .fences, .raises]
            return disturb(kinds.randomElement(using: &random) ?? .none, qosClass, cores: cores, using: &random)
        }
    }
}

extension SchedulingParameters {
    /// The table's constants, all durations divided by a number, 1…1000.
    package static func table(dividedBy divisor: Int) -> SchedulingParameters {
        guard divisor > 1 else { return SchedulingParameters() }
        let table = SchedulingParameters()
        do throws(SchedulingParameterError) {
            var result = try SchedulingParameters { qosClass throws(SchedulingParameterError) in
                try PerClass(
                    worstCaseWait: table[qosClass].worstCaseWait / divisor, warp: table[qosClass].warp / divisor,
                    quantum: table[qosClass].quantum / divisor, coresPerWorker: table[qosClass].coresPerWorker)
            }
            result.crowdingGrace = table.crowdingGrace / divisor
            result.fullFence = table.fullFence / divisor
            return result
        } catch {
            preconditionFailure("the table divided by \(divisor) is no table of constants: \(error)")
        }
    }
}

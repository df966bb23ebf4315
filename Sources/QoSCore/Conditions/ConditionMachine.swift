/// Turns the readings of all sources into conditions (rules S1, S3, S4).
///
/// It holds the states over time and the counters of the last reading. Time is an argument.
package struct ConditionMachine: Sendable {
    private var thermal = ThermalMachine()
    private var power: PowerMachine
    private var machines: [PressureKind: PressureMachine] = [:]
    private var meters: [PressureKind: ShareMeter] = [:]

    /// Whether states need not last, and reasons follow each reading.
    private let isSnapshot: Bool

    /// - Parameters:
    ///   - lowBattery: the charge at which low-power mode begins, 0…1.
    ///   - isSnapshot: whether the conditions are those of the last reading alone, for a look at a machine.
    package init(lowBattery: Double = 0.2, isSnapshot: Bool = false) {
        power = PowerMachine(lowBattery: lowBattery)
        self.isSnapshot = isSnapshot
    }

    /// Takes the readings of one moment, and returns the conditions after them. The foreground's are not among them.
    package mutating func observe(
        _ readings: SystemReadings, wishes: PowerMachine.Wishes = .init(), at now: SchedulerInstant
    ) -> SystemConditions {
        var result = SystemConditions()
        result.thermal = thermal.observe(readings.thermal, at: now)
        result.power = power.observe(readings.power, wishes: wishes, at: now)
        for kind in PressureKind.allCases {
            let number = number(of: kind, in: readings, at: now)
            let origin = readings.standIn(for: kind)
            let limits = PressureThresholds.standard(for: kind)
            if isSnapshot { machines[kind] = PressureMachine(limits.withoutRise) }
            result[kind] = machines[kind, default: PressureMachine(limits)].observe(number, at: now) {
                kind.text(of: $0, origin: origin, in: readings)
            }
        }
        return result
    }

    private mutating func number(
        of kind: PressureKind, in readings: SystemReadings, at now: SchedulerInstant
    ) -> Reading<Double> {
        switch kind {
        case .cpu: stalled(kind, readings.cpu, readings.triggered, at: now)
        case .memory: stalled(kind, readings.memory, readings.triggered, at: now)
        case .io: stalled(kind, readings.io, readings.triggered, at: now)
        case .steal: counted(kind, readings.steal, at: now)
        case .throttling: counted(kind, readings.throttling, at: now)
        case .freeMemory: used(readings.freeMemory)
        case .freeDisk: used(readings.freeDisk)
        }
    }

    /// Percent of the time since the last reading; of the last 10 s at the first one. A kernel's trigger stands for the
    /// limit of elevated.
    private mutating func stalled(
        _ kind: PressureKind, _ reading: Reading<SystemReadings.Stall>, _ triggered: Set<PressureKind>,
        at now: SchedulerInstant
    ) -> Reading<Double> {
        let found = stalled(kind, reading, at: now)
        guard triggered.contains(kind), let number = found.value else { return found }
        return .known(max(number, PressureThresholds.standard(for: kind).elevated.rise))
    }

    private mutating func stalled(
        _ kind: PressureKind, _ reading: Reading<SystemReadings.Stall>, at now: SchedulerInstant
    ) -> Reading<Double> {
        guard let stall = reading.value else {
            meters[kind]?.forget()
            return .unknown(reading.problem ?? "no reading")
        }
        guard let total = stall.total else { return .known(stall.average10) }
        let counters = SystemReadings.Counters(part: total, whole: UInt64(clamping: now.nanoseconds / 1000))
        let share = meters[kind, default: ShareMeter()].observe(counters, at: now)
        return .known(share.map { $0 * 100 } ?? stall.average10)
    }

    /// Percent since the last reading; 0 at the first one.
    private mutating func counted(
        _ kind: PressureKind, _ reading: Reading<SystemReadings.Counters>, at now: SchedulerInstant
    ) -> Reading<Double> {
        guard let counters = reading.value else {
            meters[kind]?.forget()
            return .unknown(reading.problem ?? "no reading")
        }
        return .known((meters[kind, default: ShareMeter()].observe(counters, at: now) ?? 0) * 100)
    }

    private func used(_ reading: Reading<SystemReadings.Room>) -> Reading<Double> {
        switch reading {
        case .known(let room): .known((1 - room.share) * 100)
        case .unknown(let problem): .unknown(problem)
        }
    }
}

extension SystemReadings {
    /// The origin of a stall that is not pressure stall information.
    fileprivate func standIn(for kind: PressureKind) -> String? {
        switch kind {
        case .cpu: cpu.value?.standIn
        case .memory: memory.value?.standIn
        case .io: io.value?.standIn
        default: nil
        }
    }
}

extension PressureKind {
    /// A number in words.
    fileprivate func text(of number: Double, origin: String?, in readings: SystemReadings) -> String {
        let percent = "\(Int(number.rounded())) %"
        switch self {
        case .cpu: return origin ?? "threads waited for a processor in \(percent) of the time"
        case .memory: return "threads waited for memory in \(percent) of the time"
        case .io: return "threads waited for a disk in \(percent) of the time"
        case .steal: return "the hypervisor took \(percent) of the processor time"
        case .throttling: return "the control group was throttled in \(percent) of its periods"
        case .freeMemory: return Self.text(of: readings.freeMemory.value, what: "memory")
        case .freeDisk: return Self.text(of: readings.freeDisk.value, what: "space")
        }
    }

    private static func text(of room: SystemReadings.Room?, what: String) -> String {
        guard let room else { return "unknown \(what)" }
        let percent = (room.share * 1000).rounded() / 10
        return "\(room.place) has \(percent) % of its \(what) free (\(room.free >> 20) MiB of \(room.whole >> 20) MiB)"
    }
}

/// The default policy: the recommended answers to heat, low-power mode, shortages and delayed requests (rules S2, S3,
/// S4).
///
/// Each row limits the named class and the classes below it. Of several rows the tightest limits count.
///
/// | condition | userInitiated | default | utility | background |
/// |---|---|---|---|---|
/// | heat: fair | – | – | discretionary work waits | and half of the processors |
/// | heat: serious | – | discretionary work waits | half of the processors, half of the time | stops |
/// | heat: critical | half of the processors | one processor | stops | stops |
/// | low-power mode | – | discretionary work waits | and half of the processors | stops |
/// | cpu, steal, throttling: elevated | – | – | – | half of the processors, discretionary work waits |
/// | cpu, steal, throttling: severe | – | – | half of the processors | one processor, a quarter of the time |
/// | memory, freeMemory: elevated | – | – | discretionary work waits | and one processor |
/// | memory, freeMemory: severe | – | – | half of the processors | stops |
/// | io: elevated | – | – | – | 8 MiB/s, 100 operations/s, discretionary work waits |
/// | io: severe | – | – | 16 MiB/s, 200 operations/s | 2 MiB/s, 25 operations/s, one processor |
/// | freeDisk: elevated | – | – | – | discretionary work waits |
/// | freeDisk: severe | – | – | discretionary work waits | stops |
/// | requests delayed | – | – | half of the processors | one processor, a quarter of the time, 4 MiB/s |
///
/// Delayed requests and busy processors never stop a class completely: their cause may be another one (rule C7).
public struct RecommendedPolicy: GovernorPolicy {
    /// Makes the policy.
    public init() {}

    /// Returns the recommended allowances.
    public func decision(for conditions: SystemConditions) -> GovernorDecision {
        var decision = GovernorDecision()
        decision.answerHeat(conditions.thermal)
        decision.answerPower(conditions.power)
        for kind in [PressureKind.cpu, .steal, .throttling] { decision.answerBusyProcessors(conditions[kind], kind) }
        for kind in [PressureKind.memory, .freeMemory] { decision.answerMemory(conditions[kind], kind) }
        decision.answerBusyDisks(conditions[.io])
        decision.answerFullDisk(conditions[.freeDisk])
        decision.answerDelay(conditions.foreground)
        return decision
    }
}

extension GovernorDecision {
    private static var mebibyte: Int { 1 << 20 }

    fileprivate mutating func answerHeat(_ heat: Condition<ThermalState>) {
        let reason = "thermal state \(heat.state): \(heat.reason)"
        switch heat.state {
        case .nominal: break
        case .fair:
            restrict(from: .utility, because: reason) { $0.permission = .deferDiscretionary }
            restrict(from: .background, because: reason) { $0.widths = [.share(0.5)] }
        case .serious:
            restrict(from: .default, because: reason) { $0.permission = .deferDiscretionary }
            restrict(from: .utility, because: reason) {
                $0.widths = [.share(0.5)]
                $0.duty = 0.5
            }
            restrict(from: .background, because: reason) { $0.permission = .stop }
        case .critical:
            restrict(from: .userInitiated, because: reason) {
                $0.permission = .deferDiscretionary
                $0.widths = [.share(0.5)]
            }
            restrict(from: .default, because: reason) { $0.widths = [.processors(1)] }
            restrict(from: .utility, because: reason) { $0.permission = .stop }
        }
    }

    fileprivate mutating func answerPower(_ power: Condition<PowerState>) {
        guard power.state.isLowPowerMode else { return }
        let reason = "low-power mode: \(power.reason)"
        restrict(from: .default, because: reason) { $0.permission = .deferDiscretionary }
        restrict(from: .utility, because: reason) { $0.widths = [.share(0.5)] }
        restrict(from: .background, because: reason) { $0.permission = .stop }
    }

    fileprivate mutating func answerBusyProcessors(_ pressure: Condition<PressureState>, _ kind: PressureKind) {
        let reason = "\(kind.rawValue) \(pressure.state): \(pressure.reason)"
        if pressure.state >= .elevated {
            restrict(from: .background, because: reason) {
                $0.permission = .deferDiscretionary
                $0.widths = [.share(0.5)]
            }
        }
        if pressure.state >= .severe {
            restrict(from: .utility, because: reason) { $0.widths = [.share(0.5)] }
            restrict(from: .background, because: reason) {
                $0.widths = [.processors(1)]
                $0.duty = 0.25
            }
        }
    }

    fileprivate mutating func answerMemory(_ pressure: Condition<PressureState>, _ kind: PressureKind) {
        let reason = "\(kind.rawValue) \(pressure.state): \(pressure.reason)"
        if pressure.state >= .elevated {
            restrict(from: .utility, because: reason) { $0.permission = .deferDiscretionary }
            restrict(from: .background, because: reason) { $0.widths = [.processors(1)] }
        }
        if pressure.state >= .severe {
            restrict(from: .utility, because: reason) { $0.widths = [.share(0.5)] }
            restrict(from: .background, because: reason) { $0.permission = .stop }
        }
    }

    fileprivate mutating func answerBusyDisks(_ pressure: Condition<PressureState>) {
        let reason = "io \(pressure.state): \(pressure.reason)"
        if pressure.state >= .elevated {
            restrict(from: .background, because: reason) {
                $0.permission = .deferDiscretionary
                $0.ioBytesPerSecond = 8 * Self.mebibyte
                $0.ioOperationsPerSecond = 100
            }
        }
        if pressure.state >= .severe {
            restrict(from: .utility, because: reason) {
                $0.ioBytesPerSecond = 16 * Self.mebibyte
                $0.ioOperationsPerSecond = 200
            }
            restrict(from: .background, because: reason) {
                $0.widths = [.processors(1)]
                $0.ioBytesPerSecond = 2 * Self.mebibyte
                $0.ioOperationsPerSecond = 25
            }
        }
    }

    fileprivate mutating func answerFullDisk(_ pressure: Condition<PressureState>) {
        let reason = "freeDisk \(pressure.state): \(pressure.reason)"
        if pressure.state >= .elevated {
            restrict(from: .background, because: reason) { $0.permission = .deferDiscretionary }
        }
        if pressure.state >= .severe {
            restrict(from: .utility, because: reason) { $0.permission = .deferDiscretionary }
            restrict(from: .background, because: reason) { $0.permission = .stop }
        }
    }

    fileprivate mutating func answerDelay(_ foreground: Condition<ForegroundState>) {
        guard foreground.state == .delayed else { return }
        let reason = "background work hurts requests: \(foreground.reason)"
        restrict(from: .utility, because: reason) { $0.widths = [.share(0.5)] }
        restrict(from: .background, because: reason) {
            $0.permission = .deferDiscretionary
            $0.widths = [.processors(1)]
            $0.duty = 0.25
            $0.ioBytesPerSecond = 4 * Self.mebibyte
        }
    }
}

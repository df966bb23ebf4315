import QoSKernel

/// The process's rights, as text.
struct KernelProfileReport {
    let rights: DoctorReport.Rights
    let improvements: [String]

    /// Those of this process.
    static var process: KernelProfileReport {
        let capabilities = EffectProbe.run()
        let scope = NiceScope.current()
        let scopeText =
            switch scope {
            case .ownCgroup(let path): "the process has the control group \(path) to itself"
            case .ownAutogroup: "the process leads its session and has its autogroup to itself"
            case .shared(let reason): reason
            }
        let refused = capabilities.refusals.map { ($0.key.rawValue, "\($0.value)") }
        var improvements = [capabilities.mode.improvement].compactMap { $0 }
        if capabilities.mode != .privileged, scope.spread == .polite {
            improvements.append(
                "For a wider spread of nice values: a control group of the service's own (systemd gives each unit one), or a "
                    + "session of its own (setsid), so that lowering the low classes does not put them behind other processes."
            )
        }
        return KernelProfileReport(
            rights: DoctorReport.Rights(
                mode: capabilities.mode.rawValue, niceSpread: scope.spread.rawValue, niceScope: scopeText,
                allowed: EffectCapability.allCases.filter(capabilities.allows).map(\.rawValue),
                refused: Dictionary(uniqueKeysWithValues: refused)),
            improvements: improvements)
    }
}

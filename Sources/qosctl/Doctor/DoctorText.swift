/// The text form of a doctor's report.
struct DoctorText {
    let lines: [String]

    init(_ report: DoctorReport) {
        lines =
            Self.machine(report.machine) + Self.rights(report.rights) + Self.classes(report.classes)
            + Self.libraryThreads(report.libraryThreads) + Self.pressure(report.pressure) + Self.sources(report.sources)
            + Self.library(report.library)
            + Self.list("limits", report.limits) + Self.list("what would help", report.improvements)
    }

    private static func machine(_ machine: DoctorReport.Machine) -> [String] {
        let quota = machine.quotaProcessors.map { "\($0) processors (\(machine.quotaSource ?? "?"))" } ?? "none"
        return [
            "machine",
            "  kernel      \(machine.kernel) \(machine.architecture), libuv \(machine.libuv)",
            "  processors  \(machine.processorCount): \(machine.processors)",
            "  quota       \(quota)",
            "  throttled   \(machine.throttling ?? "never: there is no quota")",
            "  width       \(machine.width) threads at a time",
            "  inhibitor   \(machine.sleepInhibitor)",
        ] + machine.problems.map { "  problem     \($0)" }
    }

    private static func rights(_ rights: DoctorReport.Rights) -> [String] {
        [
            "rights",
            "  mode        \(rights.mode)",
            "  nice        \(rights.niceSpread): \(rights.niceScope)",
            "  allowed     \(rights.allowed.joined(separator: ", "))",
        ] + rights.refused.sorted { $0.key < $1.key }.map { "  refused     \($0.key): \($0.value)" }
    }

    private static func classes(_ classes: [DoctorReport.ClassEffects]) -> [String] {
        var lines = ["classes"]
        for entry in classes {
            let knobs = entry.knobs.map { knob in
                knob.isAsAsked
                    ? "\(knob.name) \(knob.inEffect)" : "\(knob.name) \(knob.inEffect) (asked \(knob.asked ?? "-"))"
            }
            lines.append("  \(pad("\(entry.qosClass)", 16))\(pad(entry.thread, 9))\(knobs.joined(separator: ", "))")
            lines.append("  \(pad("", 16))\(pad("stat", 9))policy \(entry.statPolicy), nice \(entry.statNice)")
            for knob in entry.knobs {
                if let error = knob.error { lines.append("  \(pad("", 16))refused  \(knob.name): \(error)") }
            }
        }
        return lines
    }

    private static func libraryThreads(_ part: DoctorReport.LibraryThreadsPart) -> [String] {
        [
            "threads that libraries make",
            "  \(part.areKept ? "kept apart" : "inherit   ")  \(part.text)",
            "  so far      \(part.threads) threads, \(part.processes) processes; \(part.inherited) inherited",
        ]
    }

    private static func pressure(_ pressure: [DoctorReport.Pressure]) -> [String] {
        ["pressure, % of the last 10 s"]
            + pressure.map { entry in
                if let error = entry.error { return "  \(pad(entry.resource, 12))\(error)" }
                let full = entry.full10.map { ", full \($0)" } ?? ""
                return "  \(pad(entry.resource, 12))some \(entry.some10 ?? 0)\(full)"
            }
    }

    private static func sources(_ sources: [DoctorReport.Source]) -> [String] {
        ["sources of the machine's state"]
            + sources.map { "  \(pad($0.name, 18))\($0.isThere ? "yes" : "no "): \($0.text)" }
    }

    private static func library(_ parts: [DoctorReport.LibraryPart]) -> [String] {
        ["private parts of the concurrency library"]
            + parts.map { "  \(pad($0.name, 18))\($0.isKnown ? "known: " : "unknown; missing: ")\($0.grants)" }
    }

    private static func list(_ title: String, _ entries: [String]) -> [String] {
        entries.isEmpty ? [] : [title] + entries.map { "  - \($0)" }
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

internal import SampleCommand
internal import Sync

/// Writes results for people, or as JSON.
struct Output {
    let json: Bool

    func show(_ report: SyncReport) throws {
        guard !json else { return try sayJSON(report) }
        for conflict in report.conflicts { complain("Conflict: \(conflict)") }
        for entry in report.skipped { complain("Skipped: \(entry)") }
        for note in report.notes ?? [] { complain("Note: \(note)") }
        if let incomplete = report.incomplete {
            complain(
                "Entries that lack extended attributes or access lists: \(incomplete). Run as root, or on a file "
                    + "system that has them.")
        }
        var parts = ["\(report.unchanged) in step", "\(report.copied) copied (\(size(report.bytes)))"]
        if report.folders > 0 { parts.append("\(report.folders) folders made") }
        if report.renamed > 0 { parts.append("\(report.renamed) renamed") }
        if let linked = report.linked { parts.append("\(linked) linked") }
        if report.removed > 0 { parts.append("\(report.removed) removed") }
        if report.described > 0 { parts.append("\(report.described) with new attributes") }
        if report.reusedBytes > 0 { parts.append("\(size(report.reusedBytes)) from old versions") }
        if let kept = report.kept, kept > 0 { parts.append("\(kept) old versions kept") }
        if report.resumedBytes > 0 { parts.append("\(size(report.resumedBytes)) were there already") }
        say(parts.joined(separator: ", ") + ".")
    }

    func show(_ preview: SyncPreview) throws {
        if json {
            try sayJSON(preview)
        } else {
            for entry in preview.skipped { complain("Skipped: \(entry)") }
            table(preview.lines)
            say("\(preview.unchanged) in step, \(preview.lines.count) to do.")
            if let refusal = preview.refusal { complain("Refused: \(refusal)") }
        }
        if preview.refusal != nil { throw CommandStatus.failure }
        if preview.hasLeftovers { throw CommandStatus.leftovers }
    }

    private func table(_ lines: [SyncPreview.Line]) {
        guard !lines.isEmpty else { return }
        let rows =
            [["on A", "on B", "what", "name", "why"]]
            + lines.map {
                [$0.changeA, $0.changeB, $0.action, $0.path, ($0.isConflict ? "conflict: " : "") + $0.reason]
            }
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = (0..<3).map { row[$0].padding(to: widths[$0]) }
            say(cells.joined(separator: "  ") + "  " + row[3] + "  (" + row[4] + ")")
        }
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}

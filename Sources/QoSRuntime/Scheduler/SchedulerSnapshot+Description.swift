import QoSCore

extension SchedulerSnapshot: CustomStringConvertible {
    /// The scheduler in one line, and each class in another, in columns.
    ///
    /// ```
    /// 2 processors, effects privileged, 0 stalls, 0 threads refused
    /// class            running  width  limit  workers  blocked  queued  oldest ms  jobs run
    /// userInteractive  1        2      -      2        0        0       0.0        1204
    /// ```
    public var description: String {
        let head =
            "\(processors) processors, effects \(effectMode ?? "off"), \(stalls) stalls, "
            + "\(threadStartFailures) threads refused"
        let columns = ["class", "running", "width", "limit", "workers", "blocked", "queued", "oldest ms", "jobs run"]
        let rows = [columns] + pools.map(\.cells)
        let widths = columns.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ")
        }
        return ([head] + lines.map { String($0.reversed().drop { $0 == " " }.reversed()) }).joined(separator: "\n")
    }
}

extension SchedulerSnapshot.Pool: CustomStringConvertible {
    /// The class and its numbers in one line.
    public var description: String {
        "\(qosClass): \(running) of \(width) running, \(workers) workers, \(blocked) blocked, \(queued) queued, \(jobsRun) jobs run"
    }

    fileprivate var cells: [String] {
        let tenths = oldestWaitNanoseconds / 100_000
        return [
            "\(qosClass)", "\(running)", "\(width)", widthLimit.map { "\($0)" } ?? "-", "\(workers)", "\(blocked)",
            "\(queued)",
            "\(tenths / 10).\(tenths % 10)", "\(jobsRun)",
        ]
    }
}

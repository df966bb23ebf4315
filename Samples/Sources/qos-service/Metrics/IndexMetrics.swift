internal import Indexing
internal import QoSRuntime

/// The state of index and runtime in the text form of Prometheus, read on request.
enum IndexMetrics {
    /// Returns the metrics.
    static func text(_ status: IndexStatus, rate: Double) -> String {
        let counts = status.counts
        let files = [
            ("indexed", counts.indexed), ("pending", counts.pending), ("skipped", counts.skipped),
            ("failed", counts.failed),
        ]
        var text = metric("qos_service_index_files", "gauge", files.map { ("state=\"\($0)\"", Double($1)) })
        text += metric("qos_service_index_truncated_files", "gauge", [("", Double(counts.truncated))])
        text += metric("qos_service_index_bytes", "gauge", [("", Double(status.databaseBytes))])
        text += metric("qos_service_index_complete", "gauge", [("", status.isComplete ? 1 : 0)])
        text += metric("qos_service_index_files_read_total", "counter", [("", Double(status.settled))])
        text += metric("qos_service_index_files_per_second", "gauge", [("", (rate * 10).rounded() / 10)])
        guard let pools = schedulerSnapshot()?.pools else { return text }
        func perClass(_ name: String, _ kind: String, _ value: (SchedulerSnapshot.Pool) -> Double) -> String {
            metric(name, kind, pools.map { ("class=\"\($0.qosClass)\"", value($0)) })
        }
        text += perClass("qos_runtime_jobs_total", "counter") { Double($0.jobsRun) }
        text += perClass("qos_runtime_running_workers", "gauge") { Double($0.running) }
        text += perClass("qos_runtime_blocked_workers", "gauge") { Double($0.blocked) }
        text += perClass("qos_runtime_queued_jobs", "gauge") { Double($0.queued) }
        text += perClass("qos_runtime_oldest_wait_seconds", "gauge") { $0.oldestWait / .seconds(1) }
        text += perClass("qos_runtime_processor_seconds_total", "counter") { $0.processorTime / .seconds(1) }
        return text
    }

    /// Returns a metric.
    static func metric(_ name: String, _ kind: String, _ values: [(labels: String, value: Double)]) -> String {
        values.reduce("# TYPE \(name) \(kind)\n") { text, entry in
            let labels = entry.labels.isEmpty ? "" : "{\(entry.labels)}"
            return text + "\(name)\(labels) \(MetricValue.number(entry.value))\n"
        }
    }
}

import Dispatch
import Foundation
import QoSCore
import QoSKernel
import QoSRuntime

/// A trial of what libraries' threads inherit: a background worker makes one, as a library would.
enum LibraryThreadTrial {
    /// Makes the thread, and compares it with the calling one, which is no worker.
    static func run(on scheduler: QoSScheduler) -> DoctorReport.LibraryThreadsPart {
        let wanted = ThreadState(of: .current)
        let found = Lock<ThreadState?>(nil)
        let ended = DispatchSemaphore(value: 0)
        Task(executorPreference: scheduler.executor(for: .background)) {
            Foundation.Thread.detachNewThread {
                found.withLock { $0 = ThreadState(of: .current) }
                ended.signal()
            }
        }
        ended.wait()
        let report = LibraryThreads.report
        let inherited = found.withLock { $0.map { differences(between: $0, and: wanted) } } ?? []
        return DoctorReport.LibraryThreadsPart(
            areKept: report.obstacle == nil && inherited.isEmpty,
            text: text(report.obstacle, inherited), threads: report.threads, processes: report.processes,
            inherited: report.inherited)
    }

    private static func differences(between found: ThreadState, and wanted: ThreadState) -> [String] {
        func difference<Value: Equatable>(
            _ name: String, _ part: (ThreadState) -> Result<Value, KernelError>
        ) -> String? {
            guard let has = try? part(found).get(), let had = try? part(wanted).get(), has != had else { return nil }
            return "\(name) \(has) instead of \(had)"
        }
        return [
            difference("policy", { $0.scheduling.map(\.policy) }), difference("nice", \.nice),
            difference("ioprio", \.ioPriority), difference("slack", \.timerSlack),
            difference("processors", \.affinity),
        ].compactMap { $0 }
    }

    private static func text(_ obstacle: LibraryThreads.Obstacle?, _ differences: [String]) -> String {
        let tried =
            differences.isEmpty ? "tried: it inherited nothing" : "tried: \(differences.joined(separator: ", "))"
        return obstacle.map { "\($0); \(tried)" } ?? tried
    }
}

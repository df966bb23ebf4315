import QoSKernel

/// The kernel's scheduling of a thread: `nice 10`, `BATCH nice 10`, `IDLE`. `nice 10`, `BATCH nice 10`, `IDLE`.
struct ThreadFacts: Sendable, CustomStringConvertible {
    let description: String

    /// Those of the calling thread.
    static var here: ThreadFacts {
        do throws(KernelError) {
            let scheduling = try LinuxSchedulingCalls().scheduling(of: .current)
            switch scheduling.policy {
            case .other: return ThreadFacts(description: "nice \(scheduling.nice)")
            case .batch: return ThreadFacts(description: "BATCH nice \(scheduling.nice)")
            default: return ThreadFacts(description: "\(scheduling.policy)")
            }
        } catch {
            return ThreadFacts(description: "\(error)")
        }
    }
}

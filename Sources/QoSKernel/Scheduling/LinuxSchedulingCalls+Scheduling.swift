internal import CQoSShims
internal import Glibc

extension LinuxSchedulingCalls {
    package func setScheduling(_ scheduling: Scheduling, of thread: ThreadID) throws(KernelError) {
        // The kernel would clamp nice and slice without a word.
        guard scheduling.isSettable else {
            throw KernelError(.setScheduling, code: EINVAL, subject: "\(thread) (\(scheduling))")
        }
        let code = cqos_sched_set(
            thread.rawValue, scheduling.policy.number, Int32(scheduling.nice), UInt32(scheduling.policy.priority),
            scheduling.slice ?? 0)
        guard code == 0 else {
            throw KernelError(.setScheduling, code: code, subject: "\(thread) (\(scheduling))")
        }
    }

    package func scheduling(of thread: ThreadID) throws(KernelError) -> Scheduling {
        var attributes = cqos_sched_attr()
        let code = unsafe cqos_sched_get(thread.rawValue, &attributes)
        guard code == 0 else { throw KernelError(.getScheduling, code: code, subject: "\(thread)") }
        let policy = SchedulingPolicy(number: attributes.policy, priority: attributes.priority)
        // Real-time threads have their nice value left out here.
        let nice = policy.priority == 0 ? Int(attributes.nice) : try self.nice(of: thread)
        return Scheduling(policy: policy, nice: nice, slice: attributes.runtime == 0 ? nil : attributes.runtime)
    }

    package func setNice(_ nice: Int, of thread: ThreadID) throws(KernelError) {
        let code = Scheduling.niceRange ~= nice ? cqos_set_nice(thread.rawValue, Int32(nice)) : EINVAL
        guard code == 0 else { throw KernelError(.setNice, code: code, subject: "\(thread) (nice \(nice))") }
    }

    package func nice(of thread: ThreadID) throws(KernelError) -> Int {
        let result = cqos_get_nice(thread.rawValue)
        guard result > 0 else { throw KernelError(.getNice, code: result, subject: "\(thread)") }
        return 20 - Int(result)
    }

    package func setIOPriority(_ priority: IOPriority, of thread: ThreadID) throws(KernelError) {
        let code = priority.rawValue.map { cqos_set_ioprio(thread.rawValue, $0) } ?? EINVAL
        guard code == 0 else { throw KernelError(.setIOPriority, code: code, subject: "\(thread) (\(priority))") }
    }

    package func ioPriority(of thread: ThreadID) throws(KernelError) -> IOPriority {
        let result = cqos_get_ioprio(thread.rawValue)
        guard result >= 0 else { throw KernelError(.getIOPriority, code: result, subject: "\(thread)") }
        return IOPriority(rawValue: result)
    }
}

internal import CQoSShims
internal import Glibc

extension LinuxSchedulingCalls {
    package func setTimerSlack(nanoseconds: UInt64, of thread: ThreadID) throws(KernelError) {
        let isOwn = thread == .current
        let call: KernelCall = isOwn ? .setOwnTimerSlack : .setTimerSlackOfOther
        func subject() -> String { "\(thread) (\(nanoseconds) ns)" }
        // To the kernel 0 means "back to the default".
        guard nanoseconds > 0 else { throw KernelError(call, code: EINVAL, subject: subject()) }
        guard isOwn else {
            return try KernelFile.write(
                "\(nanoseconds)", to: slackFile(of: thread), as: call, subject: subject(), whenMissing: ESRCH)
        }
        let code = cqos_set_own_slack(nanoseconds)
        guard code == 0 else { throw KernelError(call, code: code, subject: subject()) }
    }

    package func timerSlack(of thread: ThreadID) throws(KernelError) -> UInt64 {
        guard thread == .current else {
            let text = try KernelFile.read(
                slackFile(of: thread), as: .getTimerSlackOfOther, subject: "\(thread)", whenMissing: ESRCH)
            guard let value = UInt64(text.prefix { $0.isNumber }) else {
                throw KernelError(.getTimerSlackOfOther, code: EBADMSG, subject: "\(thread)")
            }
            return value
        }
        let result = cqos_get_own_slack()
        guard result >= 0 else {
            throw KernelError(.getOwnTimerSlack, code: Int32(result), subject: "\(thread)")
        }
        return UInt64(result)
    }

    /// The file stands in the directory that `/proc` shows for every thread's id, and not under `task`
    /// (proc_pid_timerslack_ns(5)).
    private func slackFile(of thread: ThreadID) -> String {
        "\(procRoot)/\(thread.rawValue)/timerslack_ns"
    }
}

internal import CQoSShims
internal import Glibc

/// The kernel's own scheduling calls.
package struct LinuxSchedulingCalls: SchedulingCalls {
    /// The mount point of the proc filesystem, for the names and timer slack of sibling threads.
    package let procRoot: String

    /// - Parameter procRoot: where the proc filesystem is mounted.
    package init(procRoot: String = "/proc") {
        self.procRoot = procRoot
    }
}

extension LinuxSchedulingCalls {
    package func setName(_ name: ThreadName, of thread: ThreadID) throws(KernelError) {
        guard thread == .current else {
            return try KernelFile.write(
                name.text, to: nameFile(of: thread), as: .setName, subject: "\(thread)", whenMissing: ESRCH)
        }
        let code = unsafe cqos_set_own_name(name.text)
        guard code == 0 else { throw KernelError(.setName, code: code, subject: "\(thread)") }
    }

    package func name(of thread: ThreadID) throws(KernelError) -> String {
        let text = try KernelFile.read(nameFile(of: thread), as: .getName, subject: "\(thread)", whenMissing: ESRCH)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private func nameFile(of thread: ThreadID) -> String {
        "\(procRoot)/self/task/\(thread.rawValue)/comm"
    }
}

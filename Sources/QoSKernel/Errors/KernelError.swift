/// A call into the kernel that failed: which one, on what, with which error number, and what to do about it.
///
/// The remedies stand in one table, `KernelError+Remedy.swift`.
package struct KernelError: Error, Sendable, Hashable {
    /// The call that failed.
    package let call: KernelCall
    /// The error number (errno(3)), always positive.
    package let code: Int32
    /// The subject of the call: `thread 4711`, a path, a refused value.
    package let subject: String

    /// Describes a failed call.
    ///
    /// - Parameters:
    ///   - code: the error number; the sign is ignored, because the C shims return negated numbers.
    ///   - subject: what the call was about, as it shall stand in the message.
    package init(_ call: KernelCall, code: Int32, subject: String) {
        self.call = call
        self.code = abs(code)
        self.subject = subject
    }
}

extension KernelError: CustomStringConvertible {
    /// One sentence on what failed and one on what to do: `sched_setattr failed for thread 7: EPERM (…). Grant …`.
    package var description: String {
        "\(call.rawValue) failed for \(subject): \(codeName) (\(codeText)). \(remedy)"
    }
}

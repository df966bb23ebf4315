internal import Glibc

extension KernelError {
    /// A file whose content makes no sense.
    static func notSensible(_ path: String) -> KernelError {
        KernelError(.readFile, code: EBADMSG, subject: path)
    }
}

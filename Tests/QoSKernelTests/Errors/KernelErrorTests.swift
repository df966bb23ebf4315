import Glibc
import QoSKernel
import Testing

@Suite("An error of the kernel")
struct KernelErrorTests {
    @Test("names the call, the subject and the number, whatever the number's sign")
    func names() {
        let error = KernelError(.setNice, code: -EACCES, subject: "thread 7 (nice 0)")
        #expect(error == KernelError(.setNice, code: EACCES, subject: "thread 7 (nice 0)"))
        #expect(
            error.description.hasPrefix("setpriority failed for thread 7 (nice 0): EACCES (Permission denied). Grant"))
    }

    @Test("has a remedy for every call and number", arguments: KernelCall.allCases)
    func hasRemedies(call: KernelCall) {
        for code in Int32(0)...200 {
            let error = KernelError(call, code: code, subject: "x")
            #expect(error.remedy.hasSuffix("."))
            #expect(!error.codeName.isEmpty)
        }
    }

    @Test("prefers the remedy of the call to that of the number")
    func prefersTheCall() {
        #expect(KernelError(.createThread, code: EAGAIN, subject: "x").remedy.contains("pids.max"))
        #expect(KernelError(.setAffinity, code: EINVAL, subject: "x").remedy.contains("cpuset"))
        #expect(KernelError(.setAffinity, code: ESRCH, subject: "x").remedy.contains("ended"))
        #expect(KernelError(.getName, code: 199, subject: "x").remedy == "See the manual page of read(comm).")
    }
}

import CQoSTestSupport
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

    @Test("a seccomp filter is no missing right: the remedy names the cause")
    func remediesByCause() {
        let filtered = Confinement(isFiltered: true, maySetNice: false)
        let privileged = Confinement(isFiltered: true, maySetNice: true)
        let free = Confinement(isFiltered: false, maySetNice: false)
        let clone = KernelError(.createThread, code: EPERM, subject: "x")
        for state in [filtered, privileged, free] {
            #expect(clone.remedy(in: state).contains("seccomp") && clone.remedy(in: state).contains("clone3"))
            #expect(!clone.remedy(in: state).contains("CAP_SYS_NICE"))
        }
        let setting = KernelError(.setScheduling, code: EPERM, subject: "x")
        #expect(setting.remedy(in: free).contains("CAP_SYS_NICE") && !setting.remedy(in: free).contains("seccomp"))
        #expect(
            setting.remedy(in: filtered).contains("CAP_SYS_NICE") && setting.remedy(in: filtered).contains("seccomp"))
        #expect(!setting.remedy(in: privileged).contains("CAP_SYS_NICE"))
        #expect(setting.remedy(in: privileged).contains("seccomp filter refuses sched_setattr"))
        // Files are not judged by the filter, and these numbers are not its answers.
        #expect(!KernelError(.readFile, code: EPERM, subject: "x").remedy(in: filtered).contains("seccomp"))
        #expect(!KernelError(.setNice, code: EACCES, subject: "x").remedy(in: filtered).contains("seccomp"))
    }

    @Test("the state of a thread is read from its status")
    func confinement() {
        let text = "Name:\tx\nCapEff:\t0000000000800000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n"
        #expect(Confinement(status: text) == Confinement(isFiltered: true, maySetNice: true))
        #expect(
            Confinement(status: "CapEff:\t0000000000000001\nSeccomp:\t0\n")
                == .init(isFiltered: false, maySetNice: false))
        #expect(Confinement(status: "") == .init(isFiltered: false, maySetNice: false))
    }

    @Test("a thread that a filter refuses with EPERM is told of clone3, and not of CAP_SYS_NICE")
    func refusedByFilter() throws {
        // The filter stays with this thread, which ends.
        let error = try onThread { () -> KernelError? in
            // Otherwise the creator makes the thread, and the filter is not its own.
            LibraryThreads.setRule(.ownClean)
            guard cqos_test_refuse_threads() == 0 else { return nil }
            do throws(KernelError) {
                try Thread(name: "refused") {}.join()
                return nil
            } catch {
                return error
            }
        }
        let text = try #require(error).description
        #expect(text.hasPrefix("pthread_create failed") && text.contains("EPERM") && text.contains("clone3"))
        #expect(!text.contains("CAP_SYS_NICE"))
    }
}
